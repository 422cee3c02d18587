// The product C = A B of row-major matrices, rows x inner by inner x columns, in three ways that read memory less and
// less: each element by itself; tiles in LDS; tiles in LDS and blocks in registers.
//
// Every kernel takes grids of whole work-groups and guards the edges itself, so that any size will do.
#include <hip/hip_runtime.h>

#include <stdint.h>

struct Shape {
  uint32_t rows;
  uint32_t columns;
  uint32_t inner;
};

// Elements outside of a matrix count as 0 and add nothing to a sum.
__device__ float element(const float* matrix, uint32_t row, uint32_t column, uint32_t rows, uint32_t columns) {
  return row < rows && column < columns ? matrix[size_t{row} * columns + column] : 0;
}

// One work-item an element, two loads for each multiply-add. Neighbours along x share a row of A, which is one address
// for all of them, and read neighbouring elements of B, so that both loads coalesce.
extern "C" __global__ void matmul_untiled(float* c, const float* a, const float* b, Shape shape) {
  const uint32_t row = blockIdx.y * blockDim.y + threadIdx.y;
  const uint32_t column = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= shape.rows || column >= shape.columns) return;

  float sum = 0;
  for (uint32_t k = 0; k < shape.inner; ++k) {
    sum += a[size_t{row} * shape.inner + k] * b[size_t{k} * shape.columns + column];
  }
  c[size_t{row} * shape.columns + column] = sum;
}

// A work-group of width x width makes a tile of C. It loads the tiles of A and B that it needs into LDS: each element
// is loaded from memory once and used `width` times.
template <uint32_t width>
__device__ void matmul_tiled(float* c, const float* a, const float* b, Shape shape) {
  // Four columns beyond keep the rows aligned, so that four values of a row of A are one load, and put the rows of a
  // wavefront into different banks when all of them read the same ones.
  __shared__ __align__(16) float tile_a[width][width + 4];
  __shared__ float tile_b[width][width];
  const uint32_t x = threadIdx.x;
  const uint32_t y = threadIdx.y;
  const uint32_t row = blockIdx.y * width + y;
  const uint32_t column = blockIdx.x * width + x;

  float sum = 0;
  for (uint32_t first = 0; first < shape.inner; first += width) {
    // Neighbours along x load neighbouring elements of both.
    tile_a[y][x] = element(a, row, first + x, shape.rows, shape.inner);
    tile_b[y][x] = element(b, first + y, column, shape.inner, shape.columns);
    __syncthreads();
    for (uint32_t k = 0; k < width; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();  // or the next tiles overwrite what other wavefronts still read
  }
  if (row < shape.rows && column < shape.columns) c[size_t{row} * shape.columns + column] = sum;
}

extern "C" __global__ void __launch_bounds__(8 * 8)
    matmul_tiles_8(float* c, const float* a, const float* b, Shape shape) {
  matmul_tiled<8>(c, a, b, shape);
}
extern "C" __global__ void __launch_bounds__(16 * 16)
    matmul_tiles_16(float* c, const float* a, const float* b, Shape shape) {
  matmul_tiled<16>(c, a, b, shape);
}
extern "C" __global__ void __launch_bounds__(32 * 32)
    matmul_tiles_32(float* c, const float* a, const float* b, Shape shape) {
  matmul_tiled<32>(c, a, b, shape);
}

// A work-group of 16 x 16 makes a block of 64 x 64, each work-item 4 x 4 elements of it in registers: two loads from
// LDS, of four values each, for 16 multiply-adds instead of two loads for one.
extern "C" __global__ void __launch_bounds__(16 * 16)
    matmul_blocks(float* c, const float* a, const float* b, Shape shape) {
  constexpr uint32_t block = 64;
  constexpr uint32_t depth = 16;
  constexpr uint32_t each = 4;
  // A lies transposed, so that four rows of one k are one float4. Four columns beyond keep that aligned and leave at
  // most two lanes in a bank where a wavefront writes along k.
  __shared__ __align__(16) float block_a[depth][block + 4];
  __shared__ __align__(16) float block_b[depth][block];
  const uint32_t x = threadIdx.x;
  const uint32_t y = threadIdx.y;
  const uint32_t item = y * 16 + x;
  const uint32_t first_row = blockIdx.y * block;
  const uint32_t first_column = blockIdx.x * block;

  float sums[each][each] = {};
  for (uint32_t first = 0; first < shape.inner; first += depth) {
    for (uint32_t i = 0; i < each; ++i) {
      // Neighbours load neighbouring elements: 16 of a row of A, 64 of a row of B.
      block_a[x][y + 16 * i] = element(a, first_row + y + 16 * i, first + x, shape.rows, shape.inner);
      const uint32_t k = item / block + 4 * i;
      block_b[k][item % block] = element(b, first + k, first_column + item % block, shape.inner, shape.columns);
    }
    __syncthreads();
    for (uint32_t k = 0; k < depth; ++k) {
      const float4 rows = *reinterpret_cast<const float4*>(&block_a[k][each * y]);
      const float4 columns = *reinterpret_cast<const float4*>(&block_b[k][each * x]);
      const float row_values[each] = {rows.x, rows.y, rows.z, rows.w};
      const float column_values[each] = {columns.x, columns.y, columns.z, columns.w};
      for (uint32_t i = 0; i < each; ++i) {
        for (uint32_t j = 0; j < each; ++j) sums[i][j] += row_values[i] * column_values[j];
      }
    }
    __syncthreads();
  }
  for (uint32_t i = 0; i < each; ++i) {
    for (uint32_t j = 0; j < each; ++j) {
      const uint32_t row = first_row + each * y + i;
      const uint32_t column = first_column + each * x + j;
      if (row < shape.rows && column < shape.columns) c[size_t{row} * shape.columns + column] = sums[i][j];
    }
  }
}
