__kernel GROUP(64, 4) void product(__global const float* a, __global const float* b, __global float* c, uint size) {
  const uint column = get_global_id(0);
  const uint row = get_global_id(1);
  float sum = 0;
  for (uint i = 0; i < size; ++i) sum += a[row * size + i] * b[i * size + column];
  c[row * size + column] = sum;
}
