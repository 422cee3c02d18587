// The sum of each row of a matrix of floats, row after row in memory, in three ways. Each reads every element once.
// They differ in how many loads are in flight, and in how the work-items' sums come together.
//
// Grids may have any size: with more rows than groups, or wavefronts, these take rows in turns.
#include <hip/hip_runtime.h>

#include <stdint.h>

namespace {

constexpr uint32_t group_size = 256;
constexpr uint32_t loads = 4;  // in flight in a lane

// gridDim.x, without the division by a group size that HIP does not know to be constant.
__device__ uint32_t group_count() { return __builtin_amdgcn_grid_size_x() / group_size; }

// The sum of the group's values, in its first work-item.
__device__ float sum_of_group(float value) {
  __shared__ float sums[group_size];
  const uint32_t item = threadIdx.x;
  __syncthreads();  // all work-items have read the sums of the row before
  sums[item] = value;
  // The upper half is added to the lower: neighbours read neighbouring banks of LDS, and whole wavefronts fall idle.
  for (uint32_t half = group_size / 2; half > 0; half /= 2) {
    __syncthreads();
    if (item < half) sums[item] += sums[item + half];
  }
  return sums[0];
}

// In every lane, the sum of its wavefront's values: through the lanes' registers, without LDS and its barriers. Whether
// 32 or 64 lanes, each step adds halves that are half as wide.
__device__ float sum_of_wavefront(float value) {
  for (int distance = warpSize / 2; distance > 0; distance /= 2) value += __shfl_xor(value, distance);
  return value;
}

// Four floats in one load. A row starts at any float, hence the alignment; a load of 16 bytes needs no more than 4.
typedef float Float4 __attribute__((ext_vector_type(4), aligned(4)));

}  // namespace

// First of two launches: a group adds 256 neighbours. partials[b * rows + r] is the sum of row r's block b, so that the
// second launch, with a work-item a row, reads neighbouring sums.
extern "C" __global__ void __launch_bounds__(group_size)
    block_sums(const float* matrix, float* partials, uint32_t rows, uint32_t columns) {
  const uint32_t column = blockIdx.x * group_size + threadIdx.x;
  for (uint32_t row = blockIdx.y; row < rows; row += __builtin_amdgcn_grid_size_y()) {
    // The last block may reach past the row: its work-items there add nothing, but take part in the barriers.
    const float sum = sum_of_group(column < columns ? matrix[uint64_t{row} * columns + column] : 0.0f);
    if (threadIdx.x == 0) partials[uint64_t{blockIdx.x} * rows + row] = sum;
  }
}

// Second launch: adds up each row's blocks.
extern "C" __global__ void __launch_bounds__(group_size)
    sums_of_blocks(const float* partials, float* sums, uint32_t rows, uint32_t blocks) {
  const uint32_t row = blockIdx.x * group_size + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (uint32_t block = 0; block < blocks; ++block) sum += partials[uint64_t{block} * rows + row];
  sums[row] = sum;
}

// A work-group a row: each work-item adds up every 256th element before LDS is used at all, once a row.
extern "C" __global__ void __launch_bounds__(group_size)
    group_a_row(const float* matrix, float* sums, uint32_t rows, uint32_t columns) {
  for (uint32_t row = blockIdx.x; row < rows; row += group_count()) {
    const float* const elements = matrix + uint64_t{row} * columns;
    float sum = 0;
    // A loop that counts for the whole group has a scalar branch, and neighbours stay neighbours when it is unrolled.
    for (uint32_t first = 0; first < columns; first += group_size) {
      if (first + threadIdx.x < columns) sum += elements[first + threadIdx.x];
    }
    sum = sum_of_group(sum);
    if (threadIdx.x == 0) sums[row] = sum;
  }
}

// A wavefront a row: loads of 16 bytes a lane, four of them in flight, and no barrier.
extern "C" __global__ void __launch_bounds__(group_size)
    wavefront_a_row(const float* matrix, float* sums, uint32_t rows, uint32_t columns) {
  const uint32_t width = warpSize;
  const uint32_t lane = threadIdx.x % width;
  const uint32_t wavefronts = group_size / width;
  const uint32_t quads = columns / 4;
  // Tells the compiler that all lanes have the same row: it then keeps the row's address in scalar registers.
  const uint32_t wavefront = __builtin_amdgcn_readfirstlane(threadIdx.x / width);
  for (uint32_t row = blockIdx.x * wavefronts + wavefront; row < rows; row += group_count() * wavefronts) {
    const float* const elements = matrix + uint64_t{row} * columns;
    const Float4* const vectors = reinterpret_cast<const Float4*>(elements);
    Float4 sum4 = 0;
    // The loop counts for the wavefront, not for a lane: it has a scalar branch, and every lane works except in the
    // last round.
    uint32_t first = 0;
    for (; first + loads * width <= quads; first += loads * width) {
      Float4 loaded[loads];
      for (uint32_t i = 0; i < loads; ++i) loaded[i] = vectors[first + i * width + lane];
      for (uint32_t i = 0; i < loads; ++i) sum4 += loaded[i];
    }
    for (; first < quads; first += width) {
      if (first + lane < quads) sum4 += vectors[first + lane];
    }
    float sum = (sum4.x + sum4.y) + (sum4.z + sum4.w);
    const uint32_t rest = quads * 4 + lane;  // up to 3 elements
    if (rest < columns) sum += elements[rest];
    sum = sum_of_wavefront(sum);
    if (lane == 0) sums[row] = sum;
  }
}
