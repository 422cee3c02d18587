__kernel GROUP(64, 4) void sobel(__global const uchar* from, __global uchar* to, int size) {
  const int x = (int)get_global_id(0);
  const int y = (int)get_global_id(1);
  int strength = 0;
  if (x > 0 && y > 0 && x < size - 1 && y < size - 1) {
    __global const uchar* above = from + (y - 1) * size + x;
    __global const uchar* here = above + size;
    __global const uchar* below = here + size;
    const int across = above[1] + 2 * here[1] + below[1] - above[-1] - 2 * here[-1] - below[-1];
    const int down = below[-1] + 2 * below[0] + below[1] - above[-1] - 2 * above[0] - above[1];
    strength = (across < 0 ? -across : across) + (down < 0 ? -down : down);
    strength = strength > 255 ? 255 : strength;
  }
  to[y * size + x] = (uchar)strength;
}
