// What the GPU does to HSA signals.
//
// Memory ordering: a completion releases everything that the completed work wrote; a dependency that is met acquires.
#pragma once

#include <cstdint>
#include <optional>

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/command_processor/host.hpp"
#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::command_processor {

[[nodiscard]] inline amd_signal_t* amd_signal(hsa_signal_t signal) noexcept {
  return at_address<amd_signal_t>(signal.handle);
}

enum class SignalAccess : std::uint8_t { load, update };
/// A failure if the signal that a packet names is not in memory: the handle is wrong, or the program destroyed the
/// signal too early. The null signal is no failure.
[[nodiscard]] std::optional<compute::Failure> check_signal(hsa_signal_t signal, SignalAccess access);

[[nodiscard]] std::int64_t load_signal(hsa_signal_t signal) noexcept;

/// Stores a value and wakes the threads that sleep on the signal.
void store_signal(hsa_signal_t signal, std::int64_t value, Host& host);

/// Times that the profiler reads from a completion signal.
struct Timestamps {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
};

/// Decrements a completion signal and wakes the threads that sleep on it; ignores the null signal. `times` may be null.
void complete_signal(hsa_signal_t signal, const Timestamps* times, Host& host);

/// How a firmware compares signal values.
enum class Numbers : std::uint8_t { with_sign, without_sign };

/// AMD's barrier-value condition.
[[nodiscard]] bool is_met(std::int64_t value, hsa_signal_condition32_t condition, std::int64_t reference,
                          Numbers numbers = Numbers::with_sign) noexcept;

}  // namespace softgpu::command_processor
