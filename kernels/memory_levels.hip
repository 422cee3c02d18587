// Reads words again and again, from one level of the memory hierarchy each: registers, LDS, the scalar cache, and what
// answers a vector load, which the size of the memory decides. All words that are read are added up.
#include <hip/hip_runtime.h>

#include <stdint.h>

#include "memory_levels.hpp"

// Each word becomes the sum of itself and its neighbour: two reads, and no sum that a compiler could compute ahead.
extern "C" __global__ void read_registers(uint32_t* sums, uint32_t steps) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t words[register_words];
  for (uint32_t i = 0; i < register_words; ++i) words[i] = item * (i + 1);
  for (; steps > 0; --steps) {
    for (uint32_t i = 0; i < register_words; ++i) words[i] += words[(i + 1) % register_words];
  }
  sums[item] = words[0];
}

__device__ uint32_t sum_of(const uint4& words) { return words.x + words.y + words.z + words.w; }

// A work-item begins at its own number and goes on in strides, modulo the number of reads, a power of two.
extern "C" __global__ void read_lds(uint32_t* sums, const uint4* words, uint32_t steps, uint32_t stride) {
  __shared__ uint4 copy[lds_reads];
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  for (uint32_t i = threadIdx.x; i < lds_reads; i += blockDim.x) copy[i] = words[i];
  __syncthreads();
  uint32_t sum = 0;
#pragma clang loop vectorize(disable)
  for (uint32_t read = item; steps > 0; --steps) {
    for (uint32_t i = 0; i < step_reads; ++i, read += stride) sum += sum_of(copy[read % lds_reads]);
  }
  sums[item] = sum;
}

// A 32-bit byte offset from a scalar base is one instruction; a 64-bit address for each lane is five.
__device__ const uint4& load(const uint4* words, uint32_t read) {
  return *reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(words) + read * uint32_t{sizeof(uint4)});
}

extern "C" __global__ void read_memory(uint32_t* sums, const uint4* words, uint32_t reads, uint32_t steps,
                                       uint32_t stride) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = 0;
#pragma clang loop vectorize(disable)
  for (uint32_t read = item; steps > 0; --steps) {
    for (uint32_t i = 0; i < step_reads; ++i, read += stride) sum += sum_of(load(words, read & (reads - 1)));
  }
  sums[item] = sum;
}

// All work-items read the same four, so that one scalar load of 64 bytes serves the wavefront.
extern "C" __global__ void read_scalars(uint32_t* sums, const uint4* __restrict__ words, uint32_t reads,
                                        uint32_t steps) {
  const uint32_t item = blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t sum = 0;
  for (uint32_t read = 0; steps > 0; --steps, read += scalar_reads) {
    const uint4* const line = words + (read & (reads - 1));
    for (uint32_t i = 0; i < scalar_reads; ++i) sum += sum_of(line[i]);
  }
  sums[item] = sum;
}
