// A reference to a queue that may be destroyed before it.
#pragma once

#include <cstdint>

namespace fastdispatch::detail {

class PacketQueue;
struct QueueEntry;

/// Knows whether the queue still lives. Cheap to copy.
///
/// Thread safety: every member may be called from any thread, but not while the queue is being destroyed.
class QueueReference {
public:
  QueueReference(const QueueEntry& entry, std::uint64_t number) noexcept : entry_(&entry), number_(number) {}

  [[nodiscard]] bool lives() const noexcept;
  /// Throws Error when the queue was destroyed.
  [[nodiscard]] PacketQueue& operator*() const;
  [[nodiscard]] PacketQueue* operator->() const { return &**this; }

private:
  const QueueEntry* entry_;
  std::uint64_t number_;  ///< of the queue among those that use the entry one after the other
};

}  // namespace fastdispatch::detail
