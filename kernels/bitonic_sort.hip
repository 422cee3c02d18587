// One pass of the bitonic sorting network: one compare-exchange per work-item.
//
// Sorting 2^n values takes n * (n + 1) / 2 passes: stage s of n merges bitonic runs of 2^(s + 1) values, in steps of
// distance 2^s, 2^(s - 1), ... 1. Each pass reads what the pass before wrote all over the array, so a pass is a launch.
#include <hip/hip_runtime.h>

#include <stdint.h>

enum Direction : uint32_t { descending = 0, ascending = 1 };

// A 32-bit byte offset from a scalar base is one instruction; a 64-bit address for each lane is five. It reaches 2^30
// values.
__device__ uint32_t& value_at(uint32_t* data, uint32_t index) {
  const uint32_t offset = index * uint32_t{sizeof(uint32_t)};
  return *reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(data) + offset);
}

extern "C" __global__ void bitonic_pass(uint32_t* data, uint32_t stage, uint32_t step, uint32_t direction) {
  // The grid is as large as the number of pairs: no bounds check, and no assumption about wavefront or group sizes.
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t distance = 1u << step;

  // A zero bit inserted at position `step` numbers the lower partners. Neighbours in the wavefront stay neighbours in
  // memory. So loads and stores coalesce for every distance but the few smallest, where they stay within cache lines.
  const uint32_t lower = item + (item & ~(distance - 1));
  uint32_t& first = value_at(data, lower);
  uint32_t& second = value_at(data, lower + distance);

  // Runs alternate in direction, so that two neighbouring runs form the bitonic run that the next stage merges.
  const bool run_is_flipped = (lower & (2u << stage)) != 0;
  const bool smallest_first = (direction == ascending) != run_is_flipped;

  // Both values are always stored, exchanged or not: a select costs less than the divergent branch that would save a
  // store.
  const uint32_t smaller = min(first, second);
  const uint32_t larger = max(first, second);
  first = smallest_first ? smaller : larger;
  second = smallest_first ? larger : smaller;
}
