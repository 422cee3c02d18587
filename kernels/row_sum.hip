// The sum of each row of a matrix of floats, row after row in memory, in three ways. Each reads every element once.
// They differ in how many loads are in flight, and in how the work-items' sums come together. A fourth kernel only
// reads.
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

// The wavefront's number, and how many there are. All lanes have the same: the compiler is told so, and keeps it and
// what follows from it in scalar registers.
__device__ uint32_t wavefront_index() {
  return blockIdx.x * (group_size / warpSize) + __builtin_amdgcn_readfirstlane(threadIdx.x / warpSize);
}
__device__ uint32_t wavefront_count() { return group_count() * (group_size / warpSize); }

template <class Element>
using Four = Element __attribute__((ext_vector_type(4)));

// Adds up groups of four floats or integers, `count` of them one after the other, each lane its own: neighbours take
// neighbours.
template <class Element>
__device__ Four<Element> sum_of_lane(const Element* elements, uint32_t count) {
  // Four in one load. A row starts at any element, hence the alignment; a load of 16 bytes needs no more than 4.
  typedef Four<Element> Unaligned __attribute__((aligned(4)));
  const Unaligned* const vectors = reinterpret_cast<const Unaligned*>(elements);
  const uint32_t width = warpSize;
  const uint32_t lane = threadIdx.x % width;
  Four<Element> sum = 0;
  // The loop counts for the wavefront, not for a lane: it has a scalar branch, and every lane works except in the last
  // round.
  uint32_t first = 0;
  for (; first + loads * width <= count; first += loads * width) {
    Four<Element> loaded[loads];
    for (uint32_t i = 0; i < loads; ++i) loaded[i] = vectors[first + i * width + lane];
    for (uint32_t i = 0; i < loads; ++i) sum += loaded[i];
  }
  for (; first < count; first += width) {
    if (first + lane < count) sum += vectors[first + lane];
  }
  return sum;
}

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
  const uint32_t lane = threadIdx.x % warpSize;
  const uint32_t quads = columns / 4;
  for (uint32_t row = wavefront_index(); row < rows; row += wavefront_count()) {
    const float* const elements = matrix + uint64_t{row} * columns;
    const auto sum4 = sum_of_lane(elements, quads);
    float sum = (sum4.x + sum4.y) + (sum4.z + sum4.w);
    const uint32_t rest = quads * 4 + lane;  // up to 3 elements
    if (rest < columns) sum += elements[rest];
    sum = sum_of_wavefront(sum);
    if (lane == 0) sums[row] = sum;
  }
}

// What the kernels above can reach at best: it reads as they do, whatever row an element is in. Each wavefront has
// `quads_each` times four words of `count`. Words add up as integers to the same sum in any order, so that the host can
// tell whether all were read.
extern "C" __global__ void __launch_bounds__(group_size)
    plain_read(const uint32_t* words, uint32_t* sums, uint64_t count, uint32_t quads_each) {
  const uint64_t quads = count / 4;
  const uint64_t first = uint64_t{wavefront_index()} * quads_each;
  const uint32_t own_quads = first < quads ? min(uint64_t{quads_each}, quads - first) : 0;
  const auto sum4 = sum_of_lane(words + 4 * first, own_quads);
  uint32_t sum = sum4.x + sum4.y + sum4.z + sum4.w;
  const uint32_t item = blockIdx.x * group_size + threadIdx.x;
  if (item < count % 4) sum += words[quads * 4 + item];
  sums[item] = sum;
}
