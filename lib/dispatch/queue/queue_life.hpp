// Whether a queue lives, for references that outlive it.
#pragma once

#include "fastdispatch/detail/queue_reference.hpp"

namespace fastdispatch::detail {

/// A queue's entry in the table of living queues.
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

  [[nodiscard]] QueueReference reference() const noexcept { return reference_; }

private:
  QueueReference reference_;
  bool ended_ = false;
};

}  // namespace fastdispatch::detail
