// Sums of sines: a height field.
__kernel GROUP(64, 4) void waves(__global float* heights, uint size) {
  const float x = (float)get_global_id(0) * 0.01f;
  const float y = (float)get_global_id(1) * 0.01f;
  float height = 0;
  for (uint i = 1; i <= 8; ++i) height += sin(x * (float)i + y) * cos(y * (float)i - x) / (float)i;
  heights[get_global_id(1) * size + get_global_id(0)] = height;
}
