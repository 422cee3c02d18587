// Kernels that show the behaviour of the soft GPU's command processor.
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

// A message between the firmware and the trap handler.
extern "C" __global__ void unsupported(unsigned* out) {
  *out = 1;
  asm volatile("s_sendmsg sendmsg(MSG_SAVEWAVE)" ::: "memory");
}

extern "C" __global__ void meet() { asm volatile("v_mov_b32 v0, 0\n ds_gws_barrier v0 gds" ::: "v0", "memory"); }

extern "C" __global__ void trap() { __builtin_trap(); }

// The wavefronts write one after the other, the last one first. Only LDS says whose turn it is: there is no barrier.
extern "C" __global__ void take_turns(unsigned* order, unsigned first_turn) {
  __shared__ volatile unsigned turn;
  const unsigned wave = threadIdx.x / 64;
  const unsigned waves = blockDim.x / 64;
  if (wave == waves - 1) turn = first_turn + waves;
  while (turn != first_turn + wave + 1) {
  }
  order[wave] = waves - 1 - wave;
  turn = first_turn + wave;
}

// One wavefront polls memory by plain loads, as a load of work-group scope is on gfx90a, and looks busy meanwhile.
extern "C" __global__ void poll_plainly(unsigned* flag, unsigned* tries) {
  if (threadIdx.x >= 64) {
    __hip_atomic_store(flag + blockIdx.x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    return;
  }
  while (__hip_atomic_load(flag + blockIdx.x, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) == 0)
    tries[blockIdx.x * 64 + threadIdx.x] += 1;
}

// The same by a function that only a pointer leads to.
__device__ __noinline__ bool is_set(unsigned* flag) {
  return __hip_atomic_load(flag, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP) != 0;
}
__device__ bool (*const looks[])(unsigned*) = {is_set, is_set};

extern "C" __global__ void poll_by_pointer(unsigned* flag, unsigned* tries) {
  if (threadIdx.x >= 64) {
    __hip_atomic_store(flag + blockIdx.x, 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
    return;
  }
  while (!looks[tries[threadIdx.x] & 1](flag + blockIdx.x)) tries[blockIdx.x * 64 + threadIdx.x] += 1;
}

// Ends when the barrier has opened often enough, which may be never.
extern "C" __global__ void pass_barriers(const volatile unsigned* flag) {
  while (*flag == 0) __syncthreads();
}

extern "C" __global__ void loop_forever(unsigned* flag) {
  unsigned x = *flag + 1;
  while (x != 0) {
    x |= 1;
    asm volatile("" : "+v"(x));
  }
  *flag = x;
}

extern "C" __global__ void read_real_time(unsigned long* counter) { *counter = __builtin_amdgcn_s_memrealtime(); }

extern "C" __global__ void read_shader_clock(unsigned long* counter) { *counter = __builtin_amdgcn_s_memtime(); }
