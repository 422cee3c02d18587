// Five points; the border stays as it is.
__kernel GROUP(64, 4) void stencil(__global const float* from, __global float* to, uint size) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  const uint i = y * size + x;
  if (x == 0 || y == 0 || x == size - 1 || y == size - 1)
    to[i] = from[i];
  else
    to[i] = 0.5f * from[i] + 0.125f * (from[i - 1] + from[i + 1] + from[i - size] + from[i + size]);
}
