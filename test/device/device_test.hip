// The kernels that test/device launches, one for each thing that a device has to get right.
#include <hip/hip_runtime.h>

#include <cstdint>

// HIP's blockDim is the size of the current group, which is smaller at the end of a grid that is not a multiple of the
// group. Indices count in the requested size.
__device__ uint32_t index_x() { return blockIdx.x * __builtin_amdgcn_workgroup_size_x() + threadIdx.x; }

extern "C" __global__ void add(const uint32_t* a, const uint32_t* b, uint32_t* sum, uint32_t n) {
  const uint32_t i = index_x();
  if (i < n) sum[i] = a[i] + b[i];
}

extern "C" __global__ void increment(uint32_t* values, uint32_t n, uint32_t by) {
  const uint32_t i = index_x();
  if (i < n) values[i] += by;
}

// Reverses each work-group's values through LDS.
extern "C" __global__ __launch_bounds__(256) void reverse_groups(uint32_t* values) {
  __shared__ uint32_t staged[256];
  const uint32_t i = index_x();
  staged[threadIdx.x] = values[i];
  __syncthreads();
  values[i] = staged[blockDim.x - 1 - threadIdx.x];
}

// The same through LDS whose size is chosen at the dispatch.
extern "C" __global__ void reverse_groups_dynamic(uint32_t* values) {
  extern __shared__ uint32_t staged[];
  const uint32_t i = index_x();
  staged[threadIdx.x] = values[i];
  __syncthreads();
  values[i] = staged[blockDim.x - 1 - threadIdx.x];
}

// Counts the visits of each cell and notes the group that made them.
extern "C" __global__ void visit_cells(uint32_t* visits, uint32_t* groups, uint32_t width, uint32_t height) {
  const uint32_t x = index_x();
  const uint32_t y = blockIdx.y * __builtin_amdgcn_workgroup_size_y() + threadIdx.y;
  const uint32_t z = blockIdx.z * __builtin_amdgcn_workgroup_size_z() + threadIdx.z;
  const uint32_t cell = (z * height + y) * width + x;
  atomicAdd(&visits[cell], 1U);
  groups[cell] = blockIdx.x | blockIdx.y << 10 | blockIdx.z << 20;
}

// The launch's shape as the compiler finds it: from implicit arguments in code object v5, from the packet in v4.
extern "C" __global__ void report_shape(uint32_t* shape) {
  if (threadIdx.x + threadIdx.y + threadIdx.z != 0) return;
  if (blockIdx.x + blockIdx.y + blockIdx.z == 0) {
    shape[0] = blockDim.x;
    shape[1] = blockDim.y;
    shape[2] = blockDim.z;
    shape[3] = gridDim.x;
    shape[4] = gridDim.y;
    shape[5] = gridDim.z;
  }
  if (blockIdx.x == gridDim.x - 1) shape[6] = blockDim.x;  // of a group that may be partial
  shape[7] = __clang_major__;
}

struct Polynomial {
  double constant;
  float linear;
  int8_t square;
};

extern "C" __global__ void evaluate(double* results, Polynomial polynomial, uint16_t n) {
  const uint32_t i = index_x();
  if (i < n) results[i] = polynomial.constant + polynomial.linear * i + polynomial.square * static_cast<double>(i) * i;
}

// Functions that are not inlined, called by name, by pointer and by themselves; calls save registers on the stack.
__device__ __noinline__ uint32_t mix(uint32_t a, uint32_t b) { return (a ^ (b << 7)) * 2654435761U + b; }
__device__ __noinline__ uint32_t rotate(uint32_t a, uint32_t b) { return a >> (b & 31) | a << ((32 - b) & 31); }
__device__ __noinline__ uint32_t fibonacci(uint32_t n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

using Operation = uint32_t (*)(uint32_t, uint32_t);
__device__ Operation const operations[] = {mix, rotate};

extern "C" __global__ void call_functions(const uint32_t* values, uint32_t* by_pointer, uint32_t* by_itself,
                                          uint32_t n) {
  const uint32_t i = index_x();
  if (i >= n) return;
  by_pointer[i] = operations[values[i] % 2](values[i], i);
  by_itself[i] = fibonacci(i % 12);
}

// Counts work-items.
extern "C" __global__ void count(uint32_t* counter) { atomicAdd(counter, 1U); }

// By gfx90a's own instruction, which compilers use only where they are asked to; -1 elsewhere.
extern "C" __global__ void add_to_double([[maybe_unused]] double* sum, [[maybe_unused]] double value, double* before) {
#if defined(__gfx90a__)
  double was;
  asm volatile("global_atomic_add_f64 %0, %1, %2, off glc\n s_waitcnt vmcnt(0)"
               : "=v"(was)
               : "v"(sum), "v"(value)
               : "memory");
  *before = was;
#else
  *before = -1;
#endif
}

extern "C" __global__ void write_to(uint32_t* address) { *address = 42; }

// Private memory at addresses that are no multiples of four. The optimizer does not know where, nor does it keep the
// bytes in registers.
struct __attribute__((packed)) Unaligned {
  uint32_t value;
};
extern "C" __global__ void access_unaligned(uint32_t* results, uint32_t first) {
  uint8_t bytes[64];
  for (uint32_t i = 0; i != 64; ++i) reinterpret_cast<volatile uint8_t*>(bytes)[i] = static_cast<uint8_t>(i);
  const uint32_t at = first + index_x() % 8;
  reinterpret_cast<volatile Unaligned*>(bytes + at)->value = 0x01020304U * index_x();
  results[2 * index_x()] = reinterpret_cast<volatile Unaligned*>(bytes + at)->value;
  results[2 * index_x() + 1] = reinterpret_cast<volatile Unaligned*>(bytes + at + 3)->value;
}

// Each call has an array on the stack.
__device__ __noinline__ uint32_t descend(uint32_t depth, const uint32_t* in) {
  uint32_t values[16];
  for (uint32_t i = 0; i != 16; ++i) values[(depth + i * 7) % 16] = i + depth;
  return depth == 0 ? values[in[0] % 16] : values[depth % 16] + descend(depth - 1, in);
}
extern "C" __global__ void recurse(const uint32_t* in, uint32_t* out, uint32_t depth) {
  out[index_x()] = descend(depth, in);
}

extern "C" __global__ void wait_for(const volatile uint32_t* flag, uint32_t* woken) {
  while (*flag == 0) __builtin_amdgcn_s_sleep(1);
  *woken = *flag;
}

namespace twice {
__global__ void scale(float* values) { values[threadIdx.x] *= 2; }
}  // namespace twice

// A stack whose size the compiler cannot tell.
__device__ __attribute__((noinline)) unsigned depth(unsigned n) {
  volatile unsigned kept[8];
  kept[n % 8] = n;
  return n == 0 ? 0 : depth(n - 1) + (kept[n % 8] == n);
}

extern "C" __global__ void recursive(unsigned* depths, unsigned n) { depths[threadIdx.x] = depth(n + threadIdx.x % 2); }

// The last work-item reads its value, the first one then overwrites it, and the last one reads it again. They meet at
// barriers that order no caches, or at those that do.
extern "C" __global__ void read_again(uint32_t* values, uint32_t* result, uint32_t fences) {
  const auto meet = [&] {
    if (fences != 0)
      __syncthreads();
    else
      __builtin_amdgcn_s_barrier();
    asm volatile("" ::: "memory");
  };
  const uint32_t last = blockDim.x - 1;
  const uint32_t before = values[threadIdx.x];
  meet();
  if (threadIdx.x == 0) values[last] = 5;
  meet();
  const uint32_t after = values[threadIdx.x];
  if (threadIdx.x == last) *result = before + after;
}

__device__ uint32_t table[4] = {1, 2, 3, 4};
namespace space {
__constant__ uint32_t factor = 10;
}
extern "C" __global__ void look_up(uint32_t* values) { values[threadIdx.x] = space::factor * table[threadIdx.x % 4]; }
