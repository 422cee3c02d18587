// Signals between two queues of a GPU that has no barrier-value packets: one queue, or the host, completes the signal,
// and a barrier-AND packet of the other queue waits for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

/// Owns the signals that packets of one queue wait for. A signal is used again when it was completed and the packet
/// that waited for it has completed, too.
///
/// Thread safety: none.
class EdgeSignals {
public:
  struct Edge {
    PooledSignal signal;
    std::uint64_t covered_by;  ///< the epoch of the queue that completes behind its wait
  };

  /// `pool` lives longer than every packet that completes a signal of it.
  explicit EdgeSignals(SignalPool& pool) : pool_(pool) {}

  /// A signal with the value 1, for a queue whose `completed` epochs are given. The caller sets `covered_by` when the
  /// wait is in the ring. The reference is valid until the next call.
  [[nodiscard]] Edge& take(std::uint64_t completed) {
    const auto idle = std::ranges::find_if(
        edges_, [&](Edge& edge) { return edge.covered_by <= completed && edge.signal->load() <= 0; });
    if (idle == edges_.end()) return edges_.emplace_back(Edge{pool_.acquire(1), 0});
    idle->signal->store(1);
    return *idle;
  }

private:
  SignalPool& pool_;
  std::vector<Edge> edges_;
};

}  // namespace fastdispatch::detail
