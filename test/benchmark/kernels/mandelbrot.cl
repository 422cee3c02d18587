// Whole numbers of 2^-12, so that every device counts alike.
__kernel GROUP(64, 4) void mandelbrot(__global uint* counts, int size, uint limit) {
  const int px = (int)get_global_id(0);
  const int py = (int)get_global_id(1);
  const int cx = (px * 12288) / size - 8192;
  const int cy = (py * 8192) / size - 4096;
  int x = 0, y = 0;
  uint count = 0;
  while (count < limit && x * x / 4096 + y * y / 4096 < 16384) {
    const int next = x * x / 4096 - y * y / 4096 + cx;
    y = x * y / 2048 + cy;
    x = next;
    ++count;
  }
  counts[py * size + px] = count;
}
