// Each row with 17 weights, through LDS; numbers outside of the row are 0.
__kernel GROUP(256, 1) void convolution(__global const float* numbers, __global const float* weights, __global float* result,
                                      uint columns) {
  __local float part[272];
  const int item = (int)get_local_id(0);
  const int begin = (int)get_group_id(0) * 256;
  __global const float* row = numbers + get_group_id(1) * columns;
  for (int i = item; i < 272; i += 256) {
    const int column = begin + i - 8;
    part[i] = column >= 0 && column < (int)columns ? row[column] : 0.0f;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int i = 0; i < 17; ++i) sum += weights[i] * part[item + i];
  result[get_group_id(1) * columns + (uint)(begin + item)] = sum;
}
