// Counts how many work-items have each of `bins` numbers; work-item i has the number i % bins. Three ways to let many
// work-items increment few counters: the first loses increments, the second is right and slow, the third right and
// fast.
#include <hip/hip_runtime.h>

#include <stdint.h>

// Load, add, store: if two work-items load before one of them has stored, both store the same sum, and an increment is
// lost.
extern "C" __global__ void count_without_atomics(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) counters[item % bins] += 1;
}

// All increments count, but the increments of one counter pass through the memory's atomic unit one after the other.
extern "C" __global__ void count_in_memory(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) atomicAdd(&counters[item % bins], 1);
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
