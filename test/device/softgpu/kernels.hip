// Kernels that show what the soft GPU's command processor does.
#include <hip/hip_runtime.h>

extern "C" __global__ void count(unsigned* counter) {
  if (threadIdx.x == 0) atomicAdd(counter, 1U);
}

extern "C" __global__ void square(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];
}

extern "C" __global__ void write_to(unsigned* address) { *address = 1; }

extern "C" __global__ void wait_for(volatile unsigned* flag) {
  while (*flag == 0) {
  }
}

extern "C" __global__ void set(volatile unsigned* flag) { *flag = 1; }

// An array indexed by a run-time value lies in scratch memory.
extern "C" __global__ void reverse_privately(const unsigned* in, unsigned* out) {
  unsigned values[256];
  const unsigned base = (blockIdx.x * blockDim.x + threadIdx.x) * 256;
  for (unsigned i = 0; i != 256; ++i) values[in[base + i] & 255] = i;
  for (unsigned i = 0; i != 256; ++i) out[base + i] = values[i];
}

// Global wave sync, which this GPU reports not to have.
extern "C" __global__ void unsupported(unsigned* out) {
  *out = 1;
  asm volatile("v_mov_b32 v0, 0\n ds_gws_barrier v0 gds" ::: "v0", "memory");
}

extern "C" __global__ void trap() { __builtin_trap(); }
