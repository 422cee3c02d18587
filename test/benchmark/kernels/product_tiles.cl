__kernel GROUP(16, 16) void product_tiles(__global const float* a, __global const float* b, __global float* c, uint size) {
  __local float of_a[16][16];
  __local float of_b[16][16];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  const uint column = get_group_id(0) * 16 + x;
  const uint row = get_group_id(1) * 16 + y;
  float sum = 0;
  for (uint begin = 0; begin < size; begin += 16) {
    of_a[y][x] = a[row * size + begin + x];
    of_b[y][x] = b[(begin + y) * size + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 16; ++i) sum += of_a[y][i] * of_b[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * size + column] = sum;
}
