// Epochs of other queues that a queue's later packets wait for already.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "dispatch/queue/epoch_signal.hpp"
#include "dispatch/queue/queue_failure.hpp"
#include "fastdispatch/queue.hpp"

namespace fastdispatch::detail {

/// Thread safety: with several producers, each of them may call wait_once.
class PeerWaits {
public:
  PeerWaits(QueueFailure& follower, const EpochSignal& epochs, Producers producers)
      : follower_(follower), epochs_(epochs), producers_(producers) {}

  /// Calls `submit_wait`, unless an earlier wait covers `epoch` of the queue whose failure is `leader`. It returns the
  /// follower's epoch that covers its packet. It allocates and locks the first time for each queue.
  template <class SubmitWait>
  void wait_once(QueueFailure& leader, const EpochSignal& leader_epochs, std::uint64_t epoch, SubmitWait submit_wait) {
    // Held until the packet is in the ring: other producers may rely on it only then.
    const auto lock = producers_ == Producers::multiple ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    Known& known = find_or_add(leader, leader_epochs);
    if (known.wait->epoch() >= epoch) return;
    known.covered_by = submit_wait();
    known.wait->extend_to(epoch);
  }

private:
  struct Known {
    std::unique_ptr<PeerWait> wait;
    std::uint64_t covered_by = 0;  // the follower's epoch after which none of its packets looks at the leader's signal
  };

  Known& find_or_add(QueueFailure& leader, const EpochSignal& leader_epochs) {
    const auto found = std::ranges::find_if(known_, [&](const Known& one) { return one.wait->leader() == &leader; });
    if (found != known_.end()) return *found;
    std::erase_if(known_, [&](const Known& one) {
      return one.wait->leader() == nullptr && one.covered_by <= epochs_.completed();
    });
    known_.push_back({.wait = std::make_unique<PeerWait>(leader, leader_epochs, follower_)});
    return known_.back();
  }

  QueueFailure& follower_;
  const EpochSignal& epochs_;  // the follower's
  Producers producers_;
  std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace fastdispatch::detail
