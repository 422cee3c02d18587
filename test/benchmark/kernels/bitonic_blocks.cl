// Sorts blocks of 512 numbers in LDS.
__kernel GROUP(256, 1) void bitonic_blocks(__global uint* numbers) {
  __local uint block[512];
  const uint item = get_local_id(0);
  __global uint* own = numbers + get_group_id(0) * 512;
  block[item] = own[item];
  block[item + 256] = own[item + 256];
  for (uint size = 2; size <= 512; size *= 2) {
    for (uint distance = size / 2; distance > 0; distance /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint lower = 2 * item - (item & (distance - 1));
      const uint a = block[lower], b = block[lower + distance];
      const uint ascends = (lower & size) == 0;
      if ((a > b) == ascends) {
        block[lower] = b;
        block[lower + distance] = a;
      }
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  own[item] = block[item];
  own[item + 256] = block[item + 256];
}
