// What every hsaKmt function starts with.
#pragma once

#include <hsakmt.h>

#include "softgpu/thunk/soft_gpu.hpp"

/// An exported function of the thunk's interface.
#define SOFTGPU_ENTRY extern "C" __attribute__((visibility("default"))) HSAKMT_STATUS HSAKMTAPI

namespace softgpu::thunk {

/// Runs `body(SoftGpu&)` where the driver is open, as the driver's own functions do.
template <class Body>
[[nodiscard]] HSAKMT_STATUS with_driver(Body&& body) {
  SoftGpu* gpu = soft_gpu();
  if (gpu == nullptr) {
    refused_use();
    return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  }
  return body(*gpu);
}

}  // namespace softgpu::thunk
