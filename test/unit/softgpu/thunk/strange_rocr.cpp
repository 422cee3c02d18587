// Looks like ROCr to the soft GPU, and imports a function that no tested release imports.
#include <hsakmt.h>

#include "softgpu/thunk/hsakmt_6.hpp"

extern "C" __attribute__((visibility("default"))) bool strange_rocr_open() {
  if (hsaKmtOpenKFD() != HSAKMT_STATUS_SUCCESS) return false;
  const bool samples = hsaKmtPcSamplingSupport() == HSAKMT_STATUS_SUCCESS;
  return hsaKmtCloseKFD() == HSAKMT_STATUS_SUCCESS && !samples;
}
