// Counts how many work-items have each of `bins` numbers; work-item i has the number i % bins. The first way to let
// many work-items increment few counters loses increments, the second is right and slow. The others are right and meet
// in memory less often: a wavefront, or a work-group, counts for itself first.
#include <hip/hip_runtime.h>

#include <stdint.h>

// Load, add, store: if two work-items load before one of them has stored, both store the same sum, and an increment is
// lost.
extern "C" __global__ void count_without_atomics(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) counters[item % bins] += 1;
}

// All increments count, but those of one counter pass through the memory's atomic unit one after the other.
extern "C" __global__ void count_in_memory(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) atomicAdd(&counters[item % bins], 1);
}

// Atomics of system scope are atomic for the host and other GPUs, too; those of HIP's atomicAdd for one GPU.
extern "C" __global__ void count_at_system_scope(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) atomicAdd_system(&counters[item % bins], 1);
}

// The lanes with the same number add 1 together: one atomic for each number in the wavefront. The loop's condition is
// the same for all lanes, or else __ballot would not see all of them.
extern "C" __global__ void count_by_wavefronts(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  const bool counts = item < items;
  const uint32_t number = item % bins;
  for (uint64_t left = __ballot(counts); left != 0;) {
    const uint32_t leader = __builtin_ctzll(left);
    const uint32_t counted = __builtin_amdgcn_readlane(number, leader);
    const uint64_t same = __ballot(counts && number == counted);
    if (__lane_id() == leader) atomicAdd(&counters[counted], __popcll(same));
    left &= ~same;
  }
}

// A work-group counts in counters of its own in memory, whose atomics need no larger scope than the group, and adds
// them to the common ones in the end. `own` is zero before and after.
template <int scope>
__device__ void count_in_own(uint32_t* counters, uint32_t* own, uint32_t bins, uint32_t items, uint32_t grid_size) {
  own += blockIdx.x * bins;
  for (uint32_t item = blockIdx.x * blockDim.x + threadIdx.x; item < items; item += grid_size)
    __hip_atomic_fetch_add(&own[item % bins], 1, __ATOMIC_RELAXED, scope);
  __syncthreads();
  for (uint32_t number = threadIdx.x; number < bins; number += blockDim.x) {
    if (own[number] != 0) atomicAdd(&counters[number], own[number]);
    own[number] = 0;
  }
}

// Launched in groups of one wavefront.
extern "C" __global__ void count_at_wavefront_scope(uint32_t* counters, uint32_t* own, uint32_t bins, uint32_t items,
                                                    uint32_t grid_size) {
  count_in_own<__HIP_MEMORY_SCOPE_WAVEFRONT>(counters, own, bins, items, grid_size);
}

extern "C" __global__ void count_at_group_scope(uint32_t* counters, uint32_t* own, uint32_t bins, uint32_t items,
                                                uint32_t grid_size) {
  count_in_own<__HIP_MEMORY_SCOPE_WORKGROUP>(counters, own, bins, items, grid_size);
}

// A work-group's own counters: the numbers from blockIdx.y * width on, in 1 << copy_bits histograms.
struct Window {
  uint32_t width;  // LDS has room for that many counters
  uint32_t copy_bits;
};

// A work-group counts in LDS, which is private to it and close, and adds its sums to memory once. If the grid has fewer
// work-items than the count, each work-item counts for several.
extern "C" __global__ void count_in_lds(uint32_t* counters, uint32_t bins, uint32_t items, uint32_t grid_size,
                                        Window window) {
  extern __shared__ uint32_t counts[];  // [number][copy]
  const uint32_t first = blockIdx.y * window.width;
  const uint32_t width = min(window.width, bins - first);
  const uint32_t copies = 1u << window.copy_bits;
  for (uint32_t i = threadIdx.x; i < width * copies; i += blockDim.x) counts[i] = 0;
  __syncthreads();

  // Neighbours count in different copies, whose words lie in different banks: lanes with the same number do not queue
  // up.
  const uint32_t copy = threadIdx.x & (copies - 1);
  uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t number = item % bins;
  const uint32_t step = grid_size % bins;
  for (; item < items; item += grid_size) {
    const uint32_t place = number - first;  // below `first` it wraps around to a large one
    if (place < width) atomicAdd(&counts[place << window.copy_bits | copy], 1);
    number += step;  // the next item's remainder, without a division
    if (number >= bins) number -= bins;
  }
  __syncthreads();

  // Each work-item begins with another copy, in another bank.
  for (uint32_t place = threadIdx.x; place < width; place += blockDim.x) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < copies; ++i) {
      sum += counts[place << window.copy_bits | ((i + threadIdx.x) & (copies - 1))];
    }
    if (sum != 0) atomicAdd(&counters[first + place], sum);
  }
}
