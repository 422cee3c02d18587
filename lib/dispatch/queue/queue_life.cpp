#include "dispatch/queue/queue_life.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <utility>

#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

struct Entry {
  std::atomic<PacketQueue*> queue{nullptr};
  std::atomic<std::uint32_t> number{0};  ///< of the queue that lives, or of the next one
  std::uint32_t next_spare = 0;
};

/// Entries stay where they are and are never freed: references look at them without a lock. Free entries are a list.
class Table {
public:
  [[nodiscard]] Entry& at(std::uint32_t index) const noexcept {
    return blocks_[index / block_size].load(std::memory_order_acquire)[index % block_size];
  }

  [[nodiscard]] std::uint32_t take() {
    const std::lock_guard lock(mutex_);
    if (spare_ == none) return add();
    return std::exchange(spare_, at(spare_).next_spare);
  }
  void give_back(std::uint32_t index) noexcept {
    const std::lock_guard lock(mutex_);
    at(index).next_spare = std::exchange(spare_, index);
  }

private:
  static constexpr std::uint32_t block_size = 256;
  static constexpr std::uint32_t most_blocks = 4096;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  [[nodiscard]] std::uint32_t add() {
    if (count_ == most_blocks * block_size) throw Error(ErrorKind::out_of_memory, "more than a million queues");
    if (count_ % block_size == 0) blocks_[count_ / block_size] = new Entry[block_size];
    return count_++;
  }

  std::mutex mutex_;
  std::array<std::atomic<Entry*>, most_blocks> blocks_{};
  std::uint32_t count_ = 0;
  std::uint32_t spare_ = none;
};

constinit Table table;  // trivially destroyed: queues may outlive static objects
static_assert(std::is_trivially_destructible_v<Table>);

}  // namespace

QueueLife::QueueLife(PacketQueue& queue) : reference_(table.take(), 0) {
  Entry& entry = table.at(reference_.entry_);
  reference_.number_ = entry.number.load(std::memory_order_relaxed);
  entry.queue.store(&queue, std::memory_order_release);
}

void QueueLife::end() noexcept {
  if (std::exchange(ended_, true)) return;
  table.at(reference_.entry_).number.fetch_add(1, std::memory_order_acq_rel);
  table.give_back(reference_.entry_);
}

bool QueueReference::lives() const noexcept {
  return table.at(entry_).number.load(std::memory_order_acquire) == number_;
}

PacketQueue& QueueReference::operator*() const {
  if (!lives()) [[unlikely]]
    throw Error("a submission of a queue that was destroyed: wait for it, or ask it, while its queue lives");
  return *table.at(entry_).queue.load(std::memory_order_acquire);
}

}  // namespace fastdispatch::detail
