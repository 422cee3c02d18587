__kernel GROUP(16, 16) void transpose(__global const float* from, __global float* to, uint size) {
  __local float tile[16][17];
  const uint x = get_local_id(0);
  const uint y = get_local_id(1);
  tile[y][x] = from[(get_group_id(1) * 16 + y) * size + get_group_id(0) * 16 + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  to[(get_group_id(0) * 16 + y) * size + get_group_id(1) * 16 + x] = tile[x][y];
}
