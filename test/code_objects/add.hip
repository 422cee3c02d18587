#include <hip/hip_runtime.h>

extern "C" __global__ void add(const unsigned* a, const unsigned* b, unsigned* sum, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}
