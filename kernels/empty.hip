// A kernel that does nothing: what is left of a dispatch's time is the dispatch itself.
#include <hip/hip_runtime.h>

extern "C" __global__ void empty() {}
