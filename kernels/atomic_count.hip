// Counts in how many work-items each of `bins` numbers comes up; work-item i has the number i % bins. Three ways to let
// many work-items increment few counters: one that loses increments, one that is right and slow, one right and fast.
#include <hip/hip_runtime.h>

#include <stdint.h>

// Load, add, store: work-items that load before another one has stored both store the same, and an increment is lost.
extern "C" __global__ void count_without_atomics(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) counters[item % bins] += 1;
}

// No increment is lost, but those of one counter pass through the memory's atomic unit one after the other.
extern "C" __global__ void count_in_memory(uint32_t* counters, uint32_t bins, uint32_t items) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  if (item < items) atomicAdd(&counters[item % bins], 1);
}

// What a work-group counts by itself: the numbers from blockIdx.y * width on, in 1 << copy_bits histograms.
struct Window {
  uint32_t width;  // LDS has room for that many counters
  uint32_t copy_bits;
};

// A work-group counts in LDS, which is private to it and close, and adds its sums to memory once. Where the grid has
// fewer work-items than there are to count, each stands for several.
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
