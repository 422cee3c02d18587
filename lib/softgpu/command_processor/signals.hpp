// What the GPU does to HSA signals.
//
// Memory ordering: a completion releases everything that the completed work wrote; a dependency that is met acquires.
#pragma once

#include <cstdint>

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/command_processor/host.hpp"

namespace softgpu::command_processor {

[[nodiscard]] inline amd_signal_t* amd_signal(hsa_signal_t signal) noexcept {
  return at_address<amd_signal_t>(signal.handle);
}

[[nodiscard]] std::int64_t load_signal(hsa_signal_t signal) noexcept;

/// Stores a value and wakes who sleeps on it.
void store_signal(hsa_signal_t signal, std::int64_t value, Host& host);

/// Times that the profiler reads from a completion signal.
struct Timestamps {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Decrements a completion signal and wakes who sleeps on it; the null signal is none. `times` may be null.
void complete_signal(hsa_signal_t signal, const Timestamps* times, Host& host);

/// AMD's barrier-value condition.
[[nodiscard]] bool is_met(std::int64_t value, hsa_signal_condition32_t condition, std::int64_t reference) noexcept;

}  // namespace softgpu::command_processor
