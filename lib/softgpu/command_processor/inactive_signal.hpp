// A queue's inactive signal, by which the firmware asks the runtime for what the queue cannot go on without, or tells
// it why the queue stopped (queue_errors.hpp).
#pragma once

#include <atomic>
#include <cstdint>

#include <hsa/amd_hsa_queue.h>

#include "softgpu/command_processor/host.hpp"

namespace softgpu::command_processor {

class InactiveSignal {
public:
  /// `queue` and `host` must outlive it.
  InactiveSignal(const amd_queue_t& queue, Host& host) : queue_(queue), host_(host) {}

  /// The runtime answers with a 0. Both by the thread that fetches packets.
  void ask(std::int64_t bits);
  [[nodiscard]] bool waits_for_answer();

  /// At most once. Thread safe.
  void stop(std::int64_t error_bits);
  /// Returns when the runtime's handler of that error does not use the signal any more, or after seconds.
  void wait_for_handler() const;

private:
  const amd_queue_t& queue_;
  Host& host_;
  bool is_asked_ = false;
  std::atomic<std::int64_t> error_{0};
};

}  // namespace softgpu::command_processor
