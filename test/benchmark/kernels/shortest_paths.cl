// Floyd and Warshall's step: paths by way of one node.
__kernel GROUP(64, 4) void paths_by_way_of(__global uint* lengths, uint nodes, uint node) {
  const uint to = get_global_id(0);
  const uint from = get_global_id(1);
  const uint length = lengths[from * nodes + node] + lengths[node * nodes + to];
  if (length < lengths[from * nodes + to]) lengths[from * nodes + to] = length;
}
