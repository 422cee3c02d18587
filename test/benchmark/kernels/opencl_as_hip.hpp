// OpenCL C as HIP, as far as the benchmark's kernels use it: the same sources are compiled by hipcc and built by
// OpenCL. They have three macros of their own: GROUP, a work-group's size; FUNCTION, with which functions other than
// kernels begin; LOCAL_POINTER, a parameter's type, because `__local` is for arrays here.
#pragma once

#include <hip/hip_runtime.h>

using uchar = unsigned char;
using uint = unsigned int;

// NOLINTBEGIN
#define __kernel extern "C" __global__
#define __global
#undef __local  // of HIP's own
#define __local __shared__
#define GROUP(x, y) __launch_bounds__((x) * (y))
#define FUNCTION static __device__ inline
#define LOCAL_POINTER(type) type*
#define CLK_LOCAL_MEM_FENCE
#define barrier(fence) __syncthreads()
#define atomic_inc(counter) atomicAdd(counter, 1U)
#define atomic_add(counter, value) atomicAdd(counter, value)
// NOLINTEND

FUNCTION uint get_global_id(uint dimension) {
  return dimension == 0 ? blockIdx.x * blockDim.x + threadIdx.x : blockIdx.y * blockDim.y + threadIdx.y;
}
FUNCTION uint get_local_id(uint dimension) { return dimension == 0 ? threadIdx.x : threadIdx.y; }
FUNCTION uint get_group_id(uint dimension) { return dimension == 0 ? blockIdx.x : blockIdx.y; }
FUNCTION uint get_global_size(uint dimension) {
  return dimension == 0 ? gridDim.x * blockDim.x : gridDim.y * blockDim.y;
}
