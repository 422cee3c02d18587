// A kernel that does nothing with the arguments of a pass of the sort: what is left is the dispatch itself.
#include <hip/hip_runtime.h>

#include <stdint.h>

extern "C" __global__ void empty(uint32_t*, uint32_t, uint32_t, uint32_t) {}
