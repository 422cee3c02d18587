// The signal that counts a queue's epochs.
#pragma once

#include <cstdint>
#include <memory>

#include <hsa/hsa.h>

#include "dispatch/device/wait.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

/// Its value begins at `start` and goes down by one with each completed epoch. It never gets negative: nobody else's
/// queues let the firmware compare negative numbers (CLR masks the sign off, IREE begins at half of INT64_MAX).
/// Copies share the signal, so that it lives as long as a packet of another queue may wait for it.
///
/// Thread safety: const members may be called from any thread.
class EpochSignal {
public:
  static constexpr hsa_signal_value_t start = hsa_signal_value_t{1} << 62U;

  explicit EpochSignal(Agent agent)
      : signal_(std::make_shared<const Signal>(agent, start)), handle_(signal_->handle()) {}

  [[nodiscard]] hsa_signal_t handle() const noexcept { return handle_; }
  /// The last epoch that completed.
  [[nodiscard]] std::uint64_t completed() const noexcept {
    return static_cast<std::uint64_t>(start - load_acquire(handle_));
  }
  /// The signal's condition that `epoch` completed.
  [[nodiscard]] Below completion_of(std::uint64_t epoch) const noexcept {
    return {.signal = handle_, .threshold = start + 1 - static_cast<hsa_signal_value_t>(epoch)};
  }

private:
  std::shared_ptr<const Signal> signal_;
  hsa_signal_t handle_;  // of signal_, a pointer nearer
};

}  // namespace fastdispatch::detail
