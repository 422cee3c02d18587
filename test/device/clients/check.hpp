// Checks of the clients: a failed call or a wrong result is one line on standard error and exit code 1.
#pragma once

#include <cstdio>
#include <cstdlib>

#include <hip/hip_runtime.h>

inline void check(hipError_t status, const char* what) {
  if (status == hipSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, hipGetErrorString(status));
  std::exit(EXIT_FAILURE);
}

inline void expect(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::exit(EXIT_FAILURE);
}

#define CHECK(call) check((call), #call)
#define EXPECT(condition) expect((condition), #condition)
