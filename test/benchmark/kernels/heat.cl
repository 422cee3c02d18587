// Seven points in space: an item walks along z, and keeps the values of the plane before.
__kernel GROUP(64, 4) void heat(__global const float* from, __global float* to, uint size) {
  const uint x = get_global_id(0);
  const uint y = get_global_id(1);
  if (x == 0 || y == 0 || x >= size - 1 || y >= size - 1) return;
  const uint plane = size * size;
  uint i = plane + y * size + x;
  float below = from[i - plane];
  float here = from[i];
  for (uint z = 1; z < size - 1; ++z) {
    const float above = from[i + plane];
    to[i] = here + 0.0625f * (below + above + from[i - 1] + from[i + 1] + from[i - size] + from[i + size] - 6 * here);
    below = here;
    here = above;
    i += plane;
  }
}
