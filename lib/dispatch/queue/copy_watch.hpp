// The copies of a queue's batches: noticing those that fail while they run, and letting those go that wait for a queue
// which will not get to them.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/device/backoff.hpp"
#include "dispatch/device/wait.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

/// The signals of one copy, which starts when all of `start` are 0 and decrements `done`.
struct CopySignals {
  std::vector<hsa_signal_t> start{};
  hsa_signal_t packet{};  ///< the one of `start` that a packet completes; null if there is none
  hsa_signal_t done{};
};

/// HSA tells of a copy that failed by a negative value of its completion signal (hsa_amd_memory_async_copy). The packet
/// that waits for the signal to become 0 never completes then, so a thread that waits for that packet has to look.
///
/// HSA was given a copy when its batch was submitted, and nothing takes it back. While it waits for its start signals,
/// later copies of the whole process wait behind it: HSA's rings for copies are first in, first out. So when the queue
/// fails or is destroyed, its copies must start, although their batch is lost.
///
/// Thread safety: every member may be called from any thread.
class CopyWatch {
public:
  struct Seen {
    bool any = false;  // whether there are signals to look at
    std::optional<hsa_signal_value_t> failure{};
  };

  /// Tells a watch of the copies of an image, for as long as this lives. The signals live longer.
  class Entry {
  public:
    Entry(CopyWatch& watch, std::span<const CopySignals> copies) : watch_(watch), copies_(copies) {
      const std::scoped_lock lock(watch_.mutex_);
      watch_.entries_.push_back(this);
      watch_.any_.store(true, std::memory_order_release);
    }
    ~Entry() {
      const std::scoped_lock lock(watch_.mutex_);
      std::erase(watch_.entries_, this);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

  private:
    friend class CopyWatch;

    CopyWatch& watch_;
    std::span<const CopySignals> copies_;
  };

  [[nodiscard]] Seen look() const {
    if (!any_.load(std::memory_order_acquire)) return {};
    const std::scoped_lock lock(mutex_);
    for (const Entry* entry : entries_)
      for (const CopySignals& copy : entry->copies_)
        if (const hsa_signal_value_t value = load_acquire(copy.done); value < 0) return {true, value};
    return {true};
  }

  /// To be called when the queue failed or is gone. Starts the copies that wait for packets. Returns whether all copies
  /// have ended.
  bool release(const HsaApi& api) const noexcept {
    if (!any_.load(std::memory_order_acquire)) return true;
    bool all_ended = true;
    const std::scoped_lock lock(mutex_);
    for (const Entry* entry : entries_) {
      for (const CopySignals& copy : entry->copies_) {
        const hsa_signal_value_t done = load_acquire(copy.done);
        if (done < 0) api.signal_store_screlease(copy.done, 0);  // it failed, and later copies wait for 0
        if (done <= 0) continue;
        all_ended = false;
        // A copy starts at 0. A packet that completes all the same makes the value negative.
        if (copy.packet.handle != 0 && load_acquire(copy.packet) != 0) api.signal_store_screlease(copy.packet, 0);
      }
    }
    return all_ended;
  }

  /// The same, and waits until they have ended: until then they use memory of the user's. False if `deadline`
  /// passed first, as it does when the GPU is lost.
  bool drain(const HsaApi& api, const Deadline& deadline) const noexcept {
    for (Backoff backoff; !release(api); backoff())
      if (deadline.passed()) return false;
    return true;
  }

private:
  mutable std::mutex mutex_;
  std::vector<const Entry*> entries_;
  std::atomic<bool> any_ = false;
};

}  // namespace fastdispatch::detail
