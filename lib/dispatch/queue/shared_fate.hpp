// Queues that fail together.
#pragma once

#include <cstddef>
#include <vector>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

class QueueFailure;

/// Queues that wait for one another. When one queue fails, packets that wait for it in other queues never start: so all
/// of the queues have failed.
///
/// Thread safety: `fail` may be called from any thread. The rest is QueueFailure's, which holds its lock.
class SharedFate {
public:
  /// For at most `queues` queues.
  explicit SharedFate(std::size_t queues) { queues_.reserve(queues); }

  /// Marks all of the queues as failed. A queue that has failed before keeps its own reason.
  void fail(const Error& error) noexcept;

private:
  friend class QueueFailure;

  std::vector<QueueFailure*> queues_;
};

}  // namespace fastdispatch::detail
