// The code object that launches.hip loads by its file name.
#include <cstdint>

#include <hip/hip_runtime.h>

extern "C" __global__ void fill(std::uint32_t* values, std::uint32_t first) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = first + i;
}
