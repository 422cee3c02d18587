#include "dispatch/queue/queue_life.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

/// Never freed.
struct QueueEntry {
  PacketQueue* queue = nullptr;
  std::atomic<std::uint64_t> number{0};  ///< of the queue that lives, or the next one that will
  QueueEntry* next_spare = nullptr;
};

namespace {

std::mutex spare_mutex;
QueueEntry* spare = nullptr;

QueueEntry& take_entry() {
  const std::lock_guard lock(spare_mutex);
  if (spare == nullptr) return *new QueueEntry;
  QueueEntry& entry = *spare;
  spare = std::exchange(entry.next_spare, nullptr);
  return entry;
}

void give_back(QueueEntry& entry) noexcept {
  const std::lock_guard lock(spare_mutex);
  entry.next_spare = std::exchange(spare, &entry);
}

}  // namespace

QueueLife::QueueLife(PacketQueue& queue) : entry_(&take_entry()), number_(entry_->number) { entry_->queue = &queue; }

void QueueLife::end() noexcept {
  if (entry_ == nullptr) return;
  QueueEntry& entry = *std::exchange(entry_, nullptr);
  entry.number.fetch_add(1, std::memory_order_acq_rel);
  give_back(entry);
}

bool QueueReference::lives() const noexcept { return entry_->number.load(std::memory_order_acquire) == number_; }

PacketQueue& QueueReference::operator*() const {
  if (!lives()) [[unlikely]]
    throw Error("a submission of a queue that was destroyed: wait for it, or ask it, while its queue lives");
  return *entry_->queue;
}

}  // namespace fastdispatch::detail
