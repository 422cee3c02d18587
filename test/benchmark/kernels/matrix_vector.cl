// An item a row of a matrix that is stored by columns.
__kernel GROUP(256, 1) void matrix_vector(__global const float* matrix, __global const float* vector, __global float* product,
                                        uint rows, uint columns) {
  const uint row = get_global_id(0);
  float sum = 0;
  for (uint column = 0; column < columns; ++column) sum += matrix[column * rows + row] * vector[column];
  product[row] = sum;
}
