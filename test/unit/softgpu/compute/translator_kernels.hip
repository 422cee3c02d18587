// Code that the translator meets in compiled kernels: registers with a computed number, loops that lanes leave one by
// one, functions of the math library.
#include <hip/hip_runtime.h>

extern "C" __global__ void computed_registers(int* data, int uniform) {
  const int i = static_cast<int>(threadIdx.x);
  int values[16];
  for (int k = 0; k < 16; ++k) values[k] = data[i] * k;
  values[uniform] += 1000;
  data[i] = values[uniform] + values[i & 15];
}

extern "C" __global__ void collatz_steps(const unsigned* start, unsigned* steps) {
  const unsigned i = threadIdx.x;
  unsigned n = start[i];
  unsigned count = 0;
  while (n != 1) {
    n = n % 2 == 0 ? n / 2 : 3 * n + 1;
    ++count;
  }
  steps[i] = count;
}

extern "C" __global__ void math_library(const double* x, double* y, float* z) {
  const unsigned i = threadIdx.x;
  y[i] = sin(x[i]) + exp(x[i] * 0x1p-10) / log(x[i]) + sqrt(x[i]);
  z[i] = powf(static_cast<float>(x[i]), 1.25F);
}
