// Compiled with -g: a loop whose branch and lines the tests look for.
#include <hip/hip_runtime.h>

extern "C" __global__ void count_down(unsigned* out, unsigned n) {
  unsigned sum = 0;
#pragma unroll 1
  for (unsigned i = n; i != 0; --i) sum = sum * 3 + out[i];
  out[threadIdx.x] = sum;
}
