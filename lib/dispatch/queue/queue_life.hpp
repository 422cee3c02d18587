// Whether a queue lives, for references that outlive it.
#pragma once

#include <cstdint>

#include "fastdispatch/detail/queue_reference.hpp"

namespace fastdispatch::detail {

/// A member of the queue. What references look at stays when the queue goes, and serves later queues.
///
/// Thread safety: every member may be called from any thread.
class QueueLife {
public:
  explicit QueueLife(PacketQueue& queue);
  ~QueueLife() { end(); }
  QueueLife(const QueueLife&) = delete;
  QueueLife& operator=(const QueueLife&) = delete;

  /// From now on references throw.
  void end() noexcept;

  [[nodiscard]] QueueReference reference() const noexcept { return QueueReference(*entry_, number_); }

private:
  QueueEntry* entry_;  ///< null after the end
  std::uint64_t number_;
};

}  // namespace fastdispatch::detail
