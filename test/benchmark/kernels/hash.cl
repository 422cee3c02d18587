__kernel GROUP(256, 1) void hash(__global const uint* keys, __global uint* hashes) {
  uint h = keys[get_global_id(0)];
  for (uint round = 0; round < 16; ++round) {
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    h += round;
  }
  hashes[get_global_id(0)] = h;
}
