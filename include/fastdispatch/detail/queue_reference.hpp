// A reference to a queue that may be destroyed before it.
#pragma once

#include <cstdint>

namespace fastdispatch::detail {

class PacketQueue;

/// Knows whether the queue still lives. As cheap to copy as a pointer: a Submission is returned in two registers.
///
/// Thread safety: every member may be called from any thread, but not while the queue is being destroyed.
class QueueReference {
public:
  [[nodiscard]] bool lives() const noexcept;
  /// Throws Error when the queue was destroyed.
  [[nodiscard]] PacketQueue& operator*() const;
  [[nodiscard]] PacketQueue* operator->() const { return &**this; }
  [[nodiscard]] bool operator==(const QueueReference&) const noexcept = default;

private:
  friend class QueueLife;
  QueueReference(std::uint32_t entry, std::uint32_t number) noexcept : entry_(entry), number_(number) {}

  std::uint32_t entry_;   ///< of the table of living queues
  std::uint32_t number_;  ///< of the queue among those that have the entry one after the other
};

}  // namespace fastdispatch::detail
