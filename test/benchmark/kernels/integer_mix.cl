// 512 rounds of whole numbers an item, 1024 work-groups of 64.
__kernel GROUP(64, 1) void integer_mix(__global uint* numbers) {
  uint a = get_global_id(0), b = a * 2654435761u, c = ~a;
  for (uint round = 0; round < 512; ++round) {
    a += b ^ (c >> 3);
    b = (b << 7 | b >> 25) + a * 5;
    c ^= a + round;
  }
  numbers[get_global_id(0)] = a ^ b ^ c;
}
