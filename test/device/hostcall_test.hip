// Kernels that call the host: printf, assert, malloc.
#include <hip/hip_runtime.h>

#include <cassert>
#include <cstdint>

extern "C" __device__ uint64_t __ockl_call_host_function(uint64_t function, uint64_t, uint64_t, uint64_t, uint64_t,
                                                         uint64_t, uint64_t, uint64_t);

// Two of three work-items print, a line a round; `lengths` is what printf returned to each in all.
extern "C" __global__ void greet(const char* name, uint32_t rounds, int32_t* lengths) {
  const uint32_t i = blockIdx.x * __builtin_amdgcn_workgroup_size_x() + threadIdx.x;
  int length = 0;
  for (uint32_t round = 0; round < rounds && i % 3 != 2; ++round)
    length += printf("%d of group %u: %s %c%% %f\n", -static_cast<int>(i), i / 96, i % 3 == 0 ? name : "brief",
                     'a' + static_cast<int>(round), i * 0.25);
  lengths[i] = length;
}

struct Values {
  int64_t wide;
  double real;
  float narrow;
  int16_t small;
  const char* text;
  void* address;
};

// The same calls as in hostcall_test.cpp. Each takes a thousand instructions.
extern "C" __global__ void print_values(Values v) {
  printf("%ld %lx|%20lld|%hd %hhu %05d %c %%\n", v.wide, v.wide, static_cast<long long>(v.wide), v.small,
         static_cast<unsigned char>(v.small), v.small, 'x');
  printf("%s|%10.3s|%*d|%.*f %g %.2f %p\n", v.text, v.text, 7, v.small, 2, v.real, v.real, v.narrow, v.address);
}

extern "C" __global__ void print_number(uint32_t number) {
  if (threadIdx.x == 0) printf("number %u\n", number);
}

extern "C" __global__ void print_by_thousands(uint32_t* count) {
  if (printf("%u\n", blockIdx.x * __builtin_amdgcn_workgroup_size_x() + threadIdx.x) > 1) atomicAdd(count, 1U);
}

extern "C" __global__ void insist(uint32_t limit) { assert(threadIdx.x < limit); }

// A small and a large block each.
extern "C" __global__ void allocate(uint32_t** blocks) {
  for (uint32_t i = 0; i < 2; ++i) {
    auto* block = static_cast<uint32_t*>(malloc(i == 0 ? 40 : 5000));
    if (block != nullptr) block[9] = threadIdx.x;
    blocks[2 * threadIdx.x + i] = block;
  }
}

extern "C" __global__ void release(uint32_t** blocks, uint32_t* sum) {
  for (uint32_t i = 0; i < 2; ++i) {
    uint32_t* block = blocks[2 * threadIdx.x + i];
    if (block == nullptr) continue;
    atomicAdd(sum, block[9]);
    free(block);
  }
}

extern "C" __global__ void call_the_host(uint64_t function) {
  __ockl_call_host_function(function, 0, 0, 0, 0, 0, 0, 0);
}
