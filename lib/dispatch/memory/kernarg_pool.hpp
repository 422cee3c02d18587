// A queue's memory for kernel arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "dispatch/memory/kernarg_ring.hpp"
#include "fastdispatch/kernarg.hpp"

namespace fastdispatch::detail {

/// Owns a ring of 64-byte aligned blocks. Blocks come back in the order in which they were handed out, once the epoch
/// that reads them completed. The pool never grows: when it is full, Queue::acquire_kernargs waits for the oldest
/// block.
///
/// Thread safety: none; the queue serializes where it has several producers.
class KernargPool {
public:
  struct Slot {
    std::span<std::byte> bytes;
    std::size_t index;  ///< for `retire`
  };

  /// Throws Error when `bytes` is no multiple of 64, 0, or more than the memory has, and as KernargBlock does.
  KernargPool(Agent agent, std::size_t bytes, KernargMemory memory = KernargMemory::host);

  /// Takes back blocks up to `completed_epoch` first. Empty if `bytes` do not fit. Throws Error when `bytes` is 0, or
  /// the pool too small for them even when empty.
  [[nodiscard]] std::optional<Slot> try_acquire(std::size_t bytes, std::uint64_t completed_epoch) {
    if (bytes - 1 >= capacity()) [[unlikely]]  // 0 wraps around
      refuse(bytes);
    auto block = ring_.try_acquire(bytes);
    if (!block) [[unlikely]] {
      ring_.reclaim(completed_epoch);
      block = ring_.try_acquire(bytes);
      if (!block) return std::nullopt;
    }
    return Slot{{memory_.bytes().data() + block->offset, bytes}, block->index};
  }
  /// The slot `index` is in use until `epoch` completed.
  void retire(std::size_t index, std::uint64_t epoch) noexcept { ring_.retire(index, epoch); }
  /// The epoch that the oldest block waits for; `unretired` while it was not retired, 0 when there is no block.
  [[nodiscard]] std::uint64_t oldest_epoch() const noexcept { return ring_.oldest_epoch(); }

  static constexpr std::uint64_t unretired = ~std::uint64_t{0};

  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.bytes().size(); }
  [[nodiscard]] const KernargBlock& memory() const noexcept { return memory_; }

private:
  [[noreturn]] void refuse(std::size_t bytes) const;

  KernargBlock memory_;
  KernargRing ring_;
};

}  // namespace fastdispatch::detail
