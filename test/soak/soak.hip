// The kernel of the soak: every packet counts itself.
#include <hip/hip_runtime.h>

#include <cstdint>

extern "C" __global__ void count(uint32_t* counter) { atomicAdd(counter, 1U); }
