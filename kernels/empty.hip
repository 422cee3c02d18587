// A kernel with the arguments of a pass of the sort that does nothing: only the dispatch takes time.
#include <hip/hip_runtime.h>

#include <stdint.h>

extern "C" __global__ void empty(uint32_t*, uint32_t, uint32_t, uint32_t) {}
