// 64 steps towards a fixed point: rounding does not matter in the end.
__kernel GROUP(64, 4) void julia(__global float* last, int size) {
  const int px = (int)get_global_id(0);
  const int py = (int)get_global_id(1);
  float x = (float)(2 * px - size) / (float)size * 0.5f;
  float y = (float)(2 * py - size) / (float)size * 0.5f;
  for (uint i = 0; i < 64; ++i) {
    const float next = x * x - y * y - 0.1f;
    y = 2 * x * y + 0.1f;
    x = next;
  }
  last[py * size + px] = x + y;
}
