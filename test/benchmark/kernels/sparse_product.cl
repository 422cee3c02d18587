// Compressed rows, an item a row.
__kernel GROUP(256, 1) void sparse_product(__global const uint* begins, __global const uint* columns,
                                         __global const float* values, __global const float* vector,
                                         __global float* product) {
  const uint row = get_global_id(0);
  float sum = 0;
  for (uint i = begins[row]; i < begins[row + 1]; ++i) sum += values[i] * vector[columns[i]];
  product[row] = sum;
}
