// Blelloch's scan of all numbers: of blocks of 512, two an item; of the blocks' sums; then they are added.
FUNCTION void scan_in_lds(LOCAL_POINTER(uint) sums, uint item) {
  uint distance = 1;
  for (uint pairs = 256; pairs > 0; pairs /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < pairs) sums[distance * (2 * item + 2) - 1] += sums[distance * (2 * item + 1) - 1];
    distance *= 2;
  }
  if (item == 0) sums[511] = 0;
  for (uint pairs = 1; pairs < 512; pairs *= 2) {
    distance /= 2;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < pairs) {
      const uint left = distance * (2 * item + 1) - 1;
      const uint right = distance * (2 * item + 2) - 1;
      const uint sum = sums[left];
      sums[left] = sums[right];
      sums[right] += sum;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel GROUP(256, 1) void scan_blocks(__global const uint* numbers, __global uint* sums, __global uint* of_blocks) {
  __local uint block[512];
  const uint item = get_local_id(0);
  const uint begin = get_group_id(0) * 512;
  block[item] = numbers[begin + item];
  block[item + 256] = numbers[begin + item + 256];
  const uint last = numbers[begin + 511];
  scan_in_lds(block, item);
  sums[begin + item] = block[item];
  sums[begin + item + 256] = block[item + 256];
  if (item == 0) of_blocks[get_group_id(0)] = block[511] + last;
}

// One group; at most 8192 blocks.
__kernel GROUP(256, 1) void scan_sums(__global uint* of_blocks, uint count) {
  __local uint block[512];
  const uint item = get_local_id(0);
  uint before = 0;
  for (uint begin = 0; begin < count; begin += 512) {
    block[item] = of_blocks[begin + item];
    block[item + 256] = of_blocks[begin + item + 256];
    const uint last = of_blocks[begin + 511];
    scan_in_lds(block, item);
    of_blocks[begin + item] = before + block[item];
    of_blocks[begin + item + 256] = before + block[item + 256];
    before += block[511] + last;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

__kernel GROUP(256, 1) void add_sums(__global uint* sums, __global const uint* of_blocks) {
  const uint i = get_global_id(0);
  sums[i] += of_blocks[i / 512];
}
