__kernel GROUP(256, 1) void inclusive_scan(__global const float* numbers, __global float* sums) {
  __local float of_items[256];
  const uint item = get_local_id(0);
  float sum = numbers[get_global_id(0)];
  of_items[item] = sum;
  for (uint distance = 1; distance < 256; distance *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= distance) sum += of_items[item - distance];
    barrier(CLK_LOCAL_MEM_FENCE);
    of_items[item] = sum;
  }
  sums[get_global_id(0)] = sum;
}
