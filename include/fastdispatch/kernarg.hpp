// Memory for kernel arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

namespace detail {
class KernargRing;
}

/// Owns one block of the kernarg region, aligned to 64 bytes. Whoever makes one keeps it until the dispatches that read
/// it completed. Queues bring a KernargPool of their own; a block is for those who want to place arguments themselves.
class FASTDISPATCH_EXPORT KernargBlock {
public:
  /// Throws Error when `bytes` is 0 or the region is exhausted.
  KernargBlock(Agent agent, std::size_t bytes);
  ~KernargBlock();
  KernargBlock(KernargBlock&& other) noexcept;
  KernargBlock& operator=(KernargBlock&& other) noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }

private:
  Agent agent_;
  std::span<std::byte> bytes_;
};

/// Views a block of a KernargPool.
struct KernargSlot {
  std::span<std::byte> bytes;
  std::size_t index = 0;  ///< which block of the pool; for `retire`

  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
};

/// Owns a ring of 64-byte aligned blocks in the kernarg region, for one queue. Blocks come back in the order in which
/// they were handed out, once the epoch that reads them completed. The pool never grows: when it is full,
/// Queue::acquire_kernargs waits for the oldest block.
///
/// Thread safety: none; the queue serializes where it has several producers.
class FASTDISPATCH_EXPORT KernargPool {
public:
  /// Throws Error when `bytes` is no multiple of 64, 0, or more than the region has.
  KernargPool(Agent agent, std::size_t bytes);
  ~KernargPool();

  /// Where `bytes` fit after blocks up to `completed_epoch` came back; otherwise a slot with empty bytes.
  /// Throws Error when the pool is too small for `bytes` even when empty.
  [[nodiscard]] KernargSlot try_acquire(std::size_t bytes, std::uint64_t completed_epoch);
  /// Says that `slot` is read until `epoch` completed.
  void retire(const KernargSlot& slot, std::uint64_t epoch) noexcept;
  /// The epoch that the oldest block waits for; `unretired` while it was not retired, 0 when there is no block.
  [[nodiscard]] std::uint64_t oldest_epoch() const noexcept;

  static constexpr std::uint64_t unretired = ~std::uint64_t{0};

  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.bytes().size(); }

private:
  KernargBlock memory_;
  std::unique_ptr<detail::KernargRing> ring_;
};

}  // namespace fastdispatch
