// Each item adds up what it meets in steps of the grid, then adds its sum to the total.
__kernel GROUP(256, 1) void atomic_sum(__global const uint* numbers, __global uint* total, uint count) {
  uint sum = 0;
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) sum += numbers[i];
  atomic_add(total, sum);
}
