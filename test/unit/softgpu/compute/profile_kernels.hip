// Kernels whose counts are known by hand. Each work-item accesses LDS and memory where its parameters say.
#include <hip/hip_runtime.h>

extern "C" __global__ void stride_through_lds(unsigned* out, unsigned stride) {
  __shared__ unsigned lds[64 * 33];
  lds[threadIdx.x * stride] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = lds[threadIdx.x * stride];
}

// The compiler accesses what is volatile by flat addresses.
extern "C" __global__ void stride_by_flat_addresses(unsigned* out, unsigned stride) {
  __shared__ volatile unsigned lds[64 * 33];
  lds[threadIdx.x * stride] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = lds[threadIdx.x * stride];
}

extern "C" __global__ void add_in_lds(unsigned* out) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  __hip_atomic_fetch_add(&sum, threadIdx.x + 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
  __syncthreads();
  out[threadIdx.x] = sum;
}

extern "C" __global__ void copy(const unsigned* from, unsigned* to, const unsigned* where) {
  const unsigned i = threadIdx.x;
  to[2 * i] = from[where[i]];
}

extern "C" __global__ void some_lanes(unsigned* out) {
  if (threadIdx.x % 4 == 0) out[threadIdx.x] = 7;
}
