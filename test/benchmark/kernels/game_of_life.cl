// A world of bytes whose edges meet; its size is a power of two.
__kernel GROUP(64, 4) void game_of_life(__global const uchar* from, __global uchar* to, uint size) {
  const uint x = get_global_id(0), y = get_global_id(1), mask = size - 1;
  const uint left = (x - 1) & mask, right = (x + 1) & mask;
  __global const uchar* above = from + ((y - 1) & mask) * size;
  __global const uchar* here = from + y * size;
  __global const uchar* below = from + ((y + 1) & mask) * size;
  const uint around = above[left] + above[x] + above[right] + here[left] + here[right] + below[left] + below[x] +
                      below[right];
  to[y * size + x] = around == 3 || (around == 2 && here[x] != 0);
}
