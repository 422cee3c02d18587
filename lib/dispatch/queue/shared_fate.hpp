// Queues that fail together.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

#include "dispatch/queue/copy_watch.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

class QueueFailure;

// Queues that wait for one another. When one queue fails, packets that wait for it in other queues never start: so all
// of the queues have failed.
//
// Thread safety: every member may be called from any thread. HSA's own threads call `fail`.
class SharedFate {
public:
  // For at most `queues` queues.
  explicit SharedFate(std::size_t queues) { queues_.reserve(queues); }

  void add(QueueFailure& queue) noexcept;
  void remove(QueueFailure& queue) noexcept;
  // Marks all of the queues as failed. A queue that has failed before keeps its own reason.
  void fail(const Error& error) noexcept;
  // Looks at the copies of all queues.
  [[nodiscard]] CopyWatch::Seen look_at_copies() const;

private:
  mutable std::mutex mutex_;
  std::vector<QueueFailure*> queues_;
};

}  // namespace fastdispatch::detail
