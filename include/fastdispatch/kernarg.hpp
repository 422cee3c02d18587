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

/// Where kernel arguments lie.
enum class KernargMemory : std::uint8_t {
  /// In the host's memory, which every agent reads uncached, over the bus.
  host,
  /// In the agent's own memory. The agent has the arguments at hand. The host writes them over the bus and waits until
  /// they have arrived, once for each dispatch or submission that writes any. Only on gfx90a and gfx94x, and where the
  /// host sees that memory (AgentProperties::host_visible_memory). The packets that read the arguments acquire at
  /// system scope; docs/fences.md says what packets of your own have to do.
  device,
};

/// Owns one block of memory for kernel arguments, aligned to 64 bytes. Whoever makes one keeps it until the dispatches
/// that read it completed. Queues bring a KernargPool of their own; a block is for those who want to place arguments
/// themselves.
class FASTDISPATCH_EXPORT KernargBlock {
public:
  /// Throws Error when `bytes` is 0, the memory is exhausted, or for KernargMemory::device the agent has none for that.
  KernargBlock(Agent agent, std::size_t bytes, KernargMemory memory = KernargMemory::host);
  ~KernargBlock();
  KernargBlock(KernargBlock&& other) noexcept;
  KernargBlock& operator=(KernargBlock&& other) noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }
  [[nodiscard]] KernargMemory memory() const noexcept { return memory_; }

  /// To be called between writing arguments and submitting a packet that names them, which must acquire at system
  /// scope; Queue::dispatch sees to both. Waits until what this thread wrote to device memory is there: a read over the
  /// bus. Does nothing for the host's memory. Any number of threads may call it.
  void complete_writes() const noexcept {
    if (memory_ == KernargMemory::device) wait_for_arrival();
  }

private:
  void wait_for_arrival() const noexcept;

  Agent agent_;
  KernargMemory memory_;
  std::span<std::byte> bytes_;
};

/// Views a block of a KernargPool.
struct KernargSlot {
  std::span<std::byte> bytes;
  std::size_t index = 0;  ///< which block of the pool; for `retire`

  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes.data()); }
};

/// Owns a ring of 64-byte aligned blocks of memory for kernel arguments, for one queue. Blocks come back in the order
/// in which they were handed out, once the epoch that reads them completed. The pool never grows: when it is full,
/// Queue::acquire_kernargs waits for the oldest block.
///
/// Thread safety: none; the queue serializes where it has several producers.
class FASTDISPATCH_EXPORT KernargPool {
public:
  /// Throws Error when `bytes` is no multiple of 64, 0, or more than the memory has, and as KernargBlock does.
  KernargPool(Agent agent, std::size_t bytes, KernargMemory memory = KernargMemory::host);
  ~KernargPool();

  /// Where `bytes` fit after blocks up to `completed_epoch` came back; otherwise a slot with empty bytes.
  /// Throws Error when `bytes` is 0, or the pool too small for them even when empty.
  [[nodiscard]] KernargSlot try_acquire(std::size_t bytes, std::uint64_t completed_epoch);
  /// Says that `slot` is read until `epoch` completed.
  void retire(const KernargSlot& slot, std::uint64_t epoch) noexcept;
  /// The epoch that the oldest block waits for; `unretired` while it was not retired, 0 when there is no block.
  [[nodiscard]] std::uint64_t oldest_epoch() const noexcept;

  static constexpr std::uint64_t unretired = ~std::uint64_t{0};

  [[nodiscard]] std::size_t capacity() const noexcept { return memory_.bytes().size(); }
  [[nodiscard]] KernargMemory memory() const noexcept { return memory_.memory(); }
  /// As KernargBlock::complete_writes.
  void complete_writes() const noexcept { memory_.complete_writes(); }

private:
  KernargBlock memory_;
  std::unique_ptr<detail::KernargRing> ring_;
};

}  // namespace fastdispatch
