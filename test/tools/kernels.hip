// Kernels that the tests of the tools run and look at.
#include <hip/hip_runtime.h>

#include <stdint.h>

// Called with extern "C", so that nothing but sizes is known of its arguments.
extern "C" __global__ void saxpy(float a, const float* x, float* y, uint32_t n) {
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

// A kernel for each type, whose mangled name tells the type.
template <class T>
__global__ void add_one(T* values, T by) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += by;
}
template __global__ void add_one<int8_t>(int8_t*, int8_t);
template __global__ void add_one<int16_t>(int16_t*, int16_t);
template __global__ void add_one<int32_t>(int32_t*, int32_t);
template __global__ void add_one<int64_t>(int64_t*, int64_t);
template __global__ void add_one<uint8_t>(uint8_t*, uint8_t);
template __global__ void add_one<uint16_t>(uint16_t*, uint16_t);
template __global__ void add_one<uint32_t>(uint32_t*, uint32_t);
template __global__ void add_one<uint64_t>(uint64_t*, uint64_t);
template __global__ void add_one<_Float16>(_Float16*, _Float16);
template __global__ void add_one<float>(float*, float);
template __global__ void add_one<double>(double*, double);

// Where each work-item is: the row and the column of its cell.
extern "C" __global__ void number_cells(uint32_t* cells, uint32_t columns) {
  const uint32_t x = blockIdx.x * blockDim.x + threadIdx.x;
  const uint32_t y = blockIdx.y * blockDim.y + threadIdx.y;
  cells[y * columns + x] = 1000 * y + x;
}

// A structure by value.
struct Bounds {
  int32_t low;
  int32_t high;
  int32_t step;
};
extern "C" __global__ void clamp_steps(int32_t* values, Bounds bounds) {
  const int32_t value = bounds.step * values[threadIdx.x];
  values[threadIdx.x] = value < bounds.low ? bounds.low : value > bounds.high ? bounds.high : value;
}

// Reverses each work-group's elements through LDS whose size the dispatch chooses.
extern "C" __global__ void reverse(uint32_t* values) {
  extern __shared__ uint32_t staged[];
  const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
  staged[threadIdx.x] = values[i];
  __syncthreads();
  values[i] = staged[blockDim.x - 1 - threadIdx.x];
}

// Resources of known sizes.
extern "C" __global__ __launch_bounds__(256) void takes_lds(uint32_t* out) {
  __shared__ uint32_t staged[5120];  // 20 KiB: three groups to a compute unit
  for (uint32_t i = threadIdx.x; i < 5120; i += 256) staged[i] = out[i];
  __syncthreads();
  out[threadIdx.x] = staged[5119 - threadIdx.x];
}
extern "C" __global__ __launch_bounds__(256) void takes_vector_registers(uint32_t* out) {
  asm volatile("" ::: "v100");
  out[threadIdx.x] = 1;
}
extern "C" __global__ __launch_bounds__(256) void takes_scalar_registers(uint32_t* out) {
  asm volatile("" ::: "s101");
  out[threadIdx.x] = 1;
}

// The first of the arguments that the dispatcher writes: where the grid begins.
extern "C" __global__ void takes_implicit_arguments(uint64_t* out) {
  out[threadIdx.x] = *reinterpret_cast<const uint64_t*>(__builtin_amdgcn_implicitarg_ptr());
}
