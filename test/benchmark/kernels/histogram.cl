// Counts bytes in LDS, then adds the counts to those in memory.
__kernel GROUP(256, 1) void histogram(__global const uchar* bytes, __global uint* counts, uint count) {
  __local uint of_group[256];
  const uint item = get_local_id(0);
  of_group[item] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = get_global_id(0); i < count; i += get_global_size(0)) atomic_inc(&of_group[bytes[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&counts[item], of_group[item]);
}
