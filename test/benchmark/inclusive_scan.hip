// Inclusive sums within blocks of 256 numbers, by steps of doubling distance with two barriers each: barriers are most
// of what it does. pocl_peer.cpp has the same in OpenCL C.
#include <hip/hip_runtime.h>

#include <cstdint>

extern "C" __global__ __launch_bounds__(256) void scan_blocks(const float* numbers, float* sums) {
  __shared__ float of_items[256];
  const std::uint32_t item = threadIdx.x;
  float sum = numbers[blockIdx.x * 256 + item];
  of_items[item] = sum;
  for (std::uint32_t distance = 1; distance < 256; distance *= 2) {
    __syncthreads();
    if (item >= distance) sum += of_items[item - distance];
    __syncthreads();
    of_items[item] = sum;
  }
  sums[blockIdx.x * 256 + item] = sum;
}
