// A group adds 1024 numbers: four an item, then in LDS by halves.
__kernel GROUP(256, 1) void tree_sum(__global const float* numbers, __global float* sums) {
  __local float of_items[256];
  const uint item = get_local_id(0);
  __global const float* own = numbers + get_group_id(0) * 1024 + item;
  of_items[item] = own[0] + own[256] + own[512] + own[768];
  for (uint half_size = 128; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) of_items[item] += of_items[item + half_size];
  }
  if (item == 0) sums[get_group_id(0)] = of_items[0];
}
