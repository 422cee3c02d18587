// C = A B' by the matrix instructions of gfx942 and gfx950: A and B are of 8-bit floating point (E4M3), row by row;
// sums are of single precision. A wavefront has 32 x 32 of them: lane l has row or column l % 32 of its part of A or B,
// and in register i the sum in column l % 32, row i / 4 * 8 + l / 32 * 4 + i % 4 (ISA manual, "Dense Matrix Layouts").
#include <hip/hip_runtime.h>

using Sums = __attribute__((ext_vector_type(16))) float;

extern "C" __global__ void __launch_bounds__(64)
    fp8_product(const unsigned char* a, const unsigned char* b, float* c, unsigned size) {
  const unsigned within = threadIdx.x % 32, half = threadIdx.x / 32;
  const unsigned column = blockIdx.x * 32 + within;
  const unsigned char* row_of_a = a + (blockIdx.y * 32 + within) * size;
  const unsigned char* row_of_b = b + column * size;
  Sums sums = {};
  for (unsigned k = half * 8; k < size; k += 16)
    sums = __builtin_amdgcn_mfma_f32_32x32x16_fp8_fp8(*reinterpret_cast<const long*>(row_of_a + k),
                                                      *reinterpret_cast<const long*>(row_of_b + k), sums, 0, 0, 0);
  for (unsigned i = 0; i < 16; ++i) c[(blockIdx.y * 32 + i / 4 * 8 + half * 4 + i % 4) * size + column] = sums[i];
}
