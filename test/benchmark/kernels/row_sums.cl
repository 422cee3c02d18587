// Sums of rows of 4096 numbers in two launches: of 256 numbers in LDS, then of a row's 16 sums.
__kernel GROUP(256, 1) void sums_of_parts(__global const float* matrix, __global float* sums) {
  __local float of_items[256];
  const uint item = get_local_id(0);
  of_items[item] = matrix[get_global_id(0)];
  for (uint half_size = 128; half_size > 0; half_size /= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < half_size) of_items[item] += of_items[item + half_size];
  }
  if (item == 0) sums[get_group_id(0)] = of_items[0];
}

__kernel GROUP(256, 1) void sums_of_rows(__global const float* sums_of_parts, __global float* sums) {
  const uint row = get_global_id(0);
  float sum = 0;
  for (uint part = 0; part < 16; ++part) sum += sums_of_parts[row * 16 + part];
  sums[row] = sum;
}
