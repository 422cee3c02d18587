// Epochs of other queues that a queue's later packets wait for already.
#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <vector>

#include "fastdispatch/queue.hpp"

namespace fastdispatch::detail {

// Epochs complete in order, so a wait for an epoch covers the earlier epochs of its queue. Queues have numbers that are
// never used again, because a new queue may get the address of a destroyed queue.
//
// Thread safety: with several producers, each of them may call wait_once.
class PeerWaits {
public:
  explicit PeerWaits(Producers producers) : producers_(producers) {}

  // Calls `submit_wait`, unless an earlier wait covers `epoch` of the queue `id`. It allocates the first time for each
  // queue.
  template <class SubmitWait>
  void wait_once(std::uint64_t id, std::uint64_t epoch, SubmitWait submit_wait) {
    // Held until the packet is in the ring: other producers may rely on it only then.
    const auto lock = producers_ == Producers::multiple ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    auto known = std::find_if(waits_.begin(), waits_.end(), [&](const Wait& wait) { return wait.id == id; });
    if (known == waits_.end()) known = waits_.insert(known, {.id = id, .epoch = 0});
    if (known->epoch >= epoch) return;
    submit_wait();
    known->epoch = epoch;
  }

private:
  struct Wait {
    std::uint64_t id;
    std::uint64_t epoch;  // of the latest wait
  };

  Producers producers_;
  std::mutex mutex_;
  std::vector<Wait> waits_;
};

}  // namespace fastdispatch::detail
