// The mean of 5 x 5 bytes; beyond the border the border is repeated.
__kernel GROUP(64, 4) void blur(__global const uchar* from, __global uchar* to, int size) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  uint sum = 0;
  for (int dy = -2; dy <= 2; ++dy) {
    const int row = y + dy < 0 ? 0 : y + dy >= size ? size - 1 : y + dy;
    for (int dx = -2; dx <= 2; ++dx) {
      const int column = x + dx < 0 ? 0 : x + dx >= size ? size - 1 : x + dx;
      sum += from[row * size + column];
    }
  }
  to[y * size + x] = (uchar)((sum + 12) / 25);
}
