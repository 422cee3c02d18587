// Memory for kernel arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/queue_reference.hpp"
#include "fastdispatch/detail/runtime_share.hpp"

namespace fastdispatch {

namespace detail {
class QueueState;
}

/// Where kernel arguments lie.
enum class KernargMemory : std::uint8_t {
  /// In the host's memory, which every agent reads uncached, over the bus.
  host,
  /// In the agent's own memory, near the kernels. The host writes the arguments over the bus and waits until they have
  /// arrived, once for each dispatch or submission that writes arguments. Possible only on gfx90a, gfx94x and gfx950,
  /// and only if the host sees the memory (AgentProperties::host_visible_memory). On gfx90a without XGMI, prefer host
  /// memory. Queue::dispatch and batches acquire at system scope for the arguments; packets of your own must do so, too
  /// (docs/fences.md).
  device,
};

/// Owns one block of memory for kernel arguments, aligned to 64 bytes. The block must live until the dispatches that
/// read it completed. Queues have memory of their own; use a block to place arguments yourself.
class FASTDISPATCH_EXPORT KernargBlock {
public:
  /// Throws Error when `bytes` is 0, when the memory is exhausted, or when the agent does not support `memory`.
  KernargBlock(Agent agent, std::size_t bytes, KernargMemory memory = KernargMemory::host);
  ~KernargBlock();
  KernargBlock(KernargBlock&& other) noexcept;
  KernargBlock& operator=(KernargBlock&& other) noexcept;

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }
  [[nodiscard]] KernargMemory memory() const noexcept { return memory_; }

  /// Waits until this thread's writes to device memory have arrived, by a read over the bus. Does nothing for the
  /// host's memory. Call it after writing arguments and before submitting a packet that names them; the packet must
  /// acquire at system scope. Queue::dispatch does both. Any number of threads may call it.
  void complete_writes() const noexcept {
    if (memory_ == KernargMemory::device) wait_for_arrival();
  }

private:
  void wait_for_arrival() const noexcept;

  detail::RuntimeShare runtime_;
  Agent agent_;
  KernargMemory memory_;
  std::span<std::byte> bytes_;
};

/// Owns a block of a queue's kernel argument memory, aligned to 64 bytes: Queue::acquire_kernargs hands it out, and
/// Queue::submit takes it. A slot that was not submitted gives its memory back when it is destroyed. It
/// may outlive the queue, its memory does not.
class FASTDISPATCH_EXPORT KernargSlot {
public:
  KernargSlot(KernargSlot&& other) noexcept
      : queue_(std::exchange(other.queue_, nullptr)), reference_(other.reference_), bytes_(other.bytes_),
        index_(other.index_) {}
  KernargSlot& operator=(KernargSlot&&) = delete;
  ~KernargSlot() {
    if (queue_ != nullptr) give_back();
  }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint64_t address() const noexcept { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }

private:
  friend class detail::QueueState;
  KernargSlot(detail::QueueState& queue, detail::QueueReference reference, std::span<std::byte> bytes,
              std::size_t index) noexcept
      : queue_(&queue), reference_(reference), bytes_(bytes), index_(index) {}
  void give_back() const noexcept;

  detail::QueueState* queue_;  ///< null after the slot was submitted
  detail::QueueReference reference_;
  std::span<std::byte> bytes_;
  std::size_t index_;
};

}  // namespace fastdispatch
