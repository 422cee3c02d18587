// Kernels whose metadata the unit tests look at; nothing runs them.
#include <hip/hip_runtime.h>

struct Pair {
  float first;
  double second;
};

extern "C" __global__ void add(const unsigned* a, const unsigned* b, unsigned* sum, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sum[i] = a[i] + b[i];
}

extern "C" __global__ __launch_bounds__(128) void fill_pairs(Pair* pairs, Pair value, char tag) {
  __shared__ Pair staged[128];
  staged[threadIdx.x] = value;
  __syncthreads();
  pairs[threadIdx.x] = staged[127 - threadIdx.x];
  pairs[threadIdx.x].first += tag;
}

__global__ void scale(float* values) { values[threadIdx.x] *= 2; }

template <class T>
__global__ void clear(T* values) {
  values[threadIdx.x] = T{};
}
template __global__ void clear<float>(float*);
template __global__ void clear<int>(int*);

namespace filter {
__global__ void blur(float* values, int radius) { values[threadIdx.x] /= static_cast<float>(radius); }
}  // namespace filter

// A stack whose size the compiler cannot tell.
__device__ __attribute__((noinline)) unsigned depth(unsigned n) {
  volatile unsigned kept[8];
  kept[n % 8] = n;
  return n == 0 ? 0 : depth(n - 1) + (kept[n % 8] == n);
}

extern "C" __global__ void recursive(unsigned* depths, unsigned n) { depths[threadIdx.x] = depth(n + threadIdx.x % 2); }
