// The accelerations of bodies of mass 1, in tiles of 256 bodies in LDS.
__kernel GROUP(256, 1) void n_body(__global const float* places, __global float* accelerations, uint count) {
  __local float xs[256];
  __local float ys[256];
  __local float zs[256];
  const uint item = get_local_id(0);
  const uint body = get_global_id(0);
  const float x = places[body], y = places[count + body], z = places[2 * count + body];
  float ax = 0, ay = 0, az = 0;
  for (uint begin = 0; begin < count; begin += 256) {
    xs[item] = places[begin + item];
    ys[item] = places[count + begin + item];
    zs[item] = places[2 * count + begin + item];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 256; ++i) {
      const float dx = xs[i] - x, dy = ys[i] - y, dz = zs[i] - z;
      const float inverse = 1 / sqrt(dx * dx + dy * dy + dz * dz + 0.01f);
      const float scale = inverse * inverse * inverse;
      ax += dx * scale;
      ay += dy * scale;
      az += dz * scale;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  accelerations[body] = ax;
  accelerations[count + body] = ay;
  accelerations[2 * count + body] = az;
}
