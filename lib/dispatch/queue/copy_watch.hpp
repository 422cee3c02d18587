// Noticing copies of batches that fail while they run.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/hsa/amd_signal.hpp"

namespace fastdispatch::detail {

// HSA tells of a copy that failed by a negative value of its completion signal (hsa_amd_memory_async_copy). The packet
// that waits for the signal to become 0 never completes then, so a thread that waits for that packet has to look.
//
// Thread safety: every member may be called from any thread.
class CopyWatch {
public:
  struct Seen {
    bool any = false;  // whether there are signals to look at
    std::optional<hsa_signal_value_t> failure{};
  };

  // The signal must live as long as this.
  void add(hsa_signal_t done) {
    const std::scoped_lock lock(mutex_);
    const auto is_same = [&](hsa_signal_t known) { return known.handle == done.handle; };
    if (std::none_of(signals_.begin(), signals_.end(), is_same)) signals_.push_back(done);
    any_.store(true, std::memory_order_release);
  }
  [[nodiscard]] Seen look() const {
    if (!any_.load(std::memory_order_acquire)) return {};
    const std::scoped_lock lock(mutex_);
    for (const hsa_signal_t signal : signals_)
      if (const hsa_signal_value_t value = load_acquire(signal); value < 0) return {true, value};
    return {true};
  }

private:
  mutable std::mutex mutex_;
  std::vector<hsa_signal_t> signals_;
  std::atomic<bool> any_ = false;
};

}  // namespace fastdispatch::detail
