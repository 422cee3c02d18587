__kernel GROUP(256, 1) void saxpy(__global const float* x, __global float* y, float a) {
  const uint i = get_global_id(0);
  y[i] = a * x[i] + y[i];
}
