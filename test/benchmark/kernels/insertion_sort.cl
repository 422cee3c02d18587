// Each item sorts 32 numbers of its own by insertion, in memory.
__kernel GROUP(256, 1) void insertion_sort(__global uint* numbers) {
  __global uint* own = numbers + get_global_id(0) * 32;
  for (uint i = 1; i < 32; ++i) {
    const uint number = own[i];
    uint place = i;
    while (place > 0 && own[place - 1] > number) {
      own[place] = own[place - 1];
      --place;
    }
    own[place] = number;
  }
}
