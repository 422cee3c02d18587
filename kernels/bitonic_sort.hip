// One pass of the bitonic sorting network: one compare-exchange per work-item.
//
// Sorting 2^n values takes n * (n + 1) / 2 passes: stage s of n merges bitonic runs of 2^(s + 1) values, in steps of
// distance 2^s, 2^(s - 1), ... 1. Each pass reads what the one before it wrote all over the array, so a pass is a
// launch.
#include <hip/hip_runtime.h>

#include <stdint.h>

enum Direction : uint32_t { descending = 0, ascending = 1 };

extern "C" __global__ void bitonic_pass(uint32_t* __restrict__ data, uint32_t stage, uint32_t step,
                                        uint32_t direction) {
  // The grid is as large as the number of pairs: no bounds check, and no assumption about wavefront or group sizes.
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t distance = 1u << step;

  // Inserting a zero bit at position `step` numbers the lower partners; neighbours in the wavefront stay neighbours in
  // memory, so that loads and stores coalesce for every distance but the few smallest, and there within cache lines.
  const uint32_t lower = ((item & ~(distance - 1)) << 1) | (item & (distance - 1));
  const uint32_t upper = lower | distance;

  // Runs alternate in direction, so that two neighbouring ones form the bitonic run that the next stage merges.
  const bool run_is_flipped = (lower >> (stage + 1)) & 1;
  const bool smallest_first = (direction == ascending) != run_is_flipped;

  // Both are stored whether exchanged or not: a select costs less than the divergent branch that would save a store.
  const uint32_t a = data[lower];
  const uint32_t b = data[upper];
  const uint32_t smaller = min(a, b);
  const uint32_t larger = max(a, b);
  data[lower] = smallest_first ? smaller : larger;
  data[upper] = smallest_first ? larger : smaller;
}
