// How many of 256 random points an item are within the quarter of a circle.
__kernel GROUP(256, 1) void circle(__global uint* counts) {
  uint state = get_global_id(0) * 747796405u + 1;
  uint count = 0;
  for (uint i = 0; i < 256; ++i) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    const uint x = state & 0xffff, y = state >> 16;
    count += ((x * x) >> 1) + ((y * y) >> 1) < 0x7fffffffu;
  }
  counts[get_global_id(0)] = count;
}
