// 256 complex numbers a group, in LDS, two items of a pair each: radix 2, decimation in time.
__kernel GROUP(128, 1) void fft(__global const float* numbers, __global float* transform) {
  __local float real[256];
  __local float imaginary[256];
  const uint item = get_local_id(0);
  const uint begin = get_group_id(0) * 512;
  for (uint i = item; i < 256; i += 128) {
    uint reversed = 0;
    for (uint bit = 0; bit < 8; ++bit) reversed |= ((i >> bit) & 1) << (7 - bit);
    real[reversed] = numbers[begin + 2 * i];
    imaginary[reversed] = numbers[begin + 2 * i + 1];
  }
  for (uint half_size = 1; half_size < 256; half_size *= 2) {
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint within = item & (half_size - 1);
    const uint low = 2 * (item - within) + within;
    const uint high = low + half_size;
    const float angle = -3.14159265f * (float)within / (float)half_size;
    const float c = cos(angle), s = sin(angle);
    const float r = real[high] * c - imaginary[high] * s;
    const float i = real[high] * s + imaginary[high] * c;
    real[high] = real[low] - r;
    imaginary[high] = imaginary[low] - i;
    real[low] += r;
    imaginary[low] += i;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = item; i < 256; i += 128) {
    transform[begin + 2 * i] = real[i];
    transform[begin + 2 * i + 1] = imaginary[i];
  }
}
