__kernel GROUP(256, 1) void bitonic_pass(__global uint* numbers, uint stage, uint step) {
  const uint item = get_global_id(0);
  const uint distance = 1u << step;
  const uint lower = ((item & ~(distance - 1)) << 1) | (item & (distance - 1));
  const uint descends = (lower >> (stage + 1)) & 1;
  const uint a = numbers[lower], b = numbers[lower + distance];
  const uint smaller = a < b ? a : b, larger = a < b ? b : a;
  numbers[lower] = descends ? larger : smaller;
  numbers[lower + distance] = descends ? smaller : larger;
}
