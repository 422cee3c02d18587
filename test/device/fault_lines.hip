#include <hip/hip_runtime.h>

// Kernels that fault, compiled with line tables: queue_failures_test.cpp looks for the numbers of the marked lines.
__device__ __forceinline__ void put(unsigned* at, unsigned value) {
  *at = value;  // line 5
}

extern "C" __global__ void store_one(unsigned* at) {
  *at = 1;  // line 9
}
extern "C" __global__ void store_through_a_function(unsigned* at) {
  put(at, 2);  // line 12
}
extern "C" __global__ void load_scattered(const unsigned* const* at, unsigned* out) {
  out[threadIdx.x] = *at[threadIdx.x];  // line 15
}
extern "C" __global__ void trap(unsigned* out) {
  if (threadIdx.x == 0) __builtin_trap();  // line 18
  *out = 1;
}
