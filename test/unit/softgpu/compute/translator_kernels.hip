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

using Halves = _Float16 __attribute__((ext_vector_type(4)));
using Floats = float __attribute__((ext_vector_type(4)));

// 16 x depth times depth x 16, by one wavefront.
extern "C" __global__ void matrix_product(const _Float16* a, const _Float16* b, float* d, unsigned depth) {
  const unsigned column = threadIdx.x % 16;
  const unsigned group = threadIdx.x / 16 * 4;
  Floats sums = {};
  for (unsigned k = 0; k < depth; k += 16) {
    Halves x, y;
    for (unsigned n = 0; n < 4; ++n) {
      x[n] = a[column * depth + k + group + n];
      y[n] = b[(k + group + n) * 16 + column];
    }
    sums = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, sums, 0, 0, 0);
  }
  for (unsigned n = 0; n < 4; ++n) d[(group + n) * 16 + column] = sums[n];
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
