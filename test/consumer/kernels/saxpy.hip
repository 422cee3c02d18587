#include "factor.hpp"

#include <hip/hip_runtime.h>

extern "C" __global__ void saxpy(const float* x, float* y, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] += factor * x[i];
}
