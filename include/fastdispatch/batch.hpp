// Dispatches and copies recorded once and submitted any number of times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/copy.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch {

/// How the packets of a batch are ordered and which caches they write back and drop.
enum class Fences : std::uint8_t {
  /// Every packet waits for the one before and acquires and releases at system scope.
  conservative,
  /// Every packet waits for the one before; the first after a start or copy acquires, the last before a copy or the end
  /// releases at system scope, the others at agent scope: what is between stays in the device's caches.
  minimal,
};

struct BatchOptions {
  Fences fences = Fences::minimal;
};

namespace detail {
class BatchRecording;
struct BatchImage;
}  // namespace detail

/// Owner of a sequence of dispatches and copies, recorded once and submitted any number of times; move-only. It is
/// encoded at its first submission: packets and kernel arguments, which every later submission shares. Recording may go
/// on afterwards; what is in flight keeps what it was submitted with.
///
/// The steps run one after the other, each seeing what the ones before wrote. So do submissions to one queue. Modules
/// and memory named in a batch must outlive its submissions; the Batch itself need not.
///
/// Thread safety: recording needs external synchronization; submitting a batch that is not being recorded may be done
/// from several threads.
class FASTDISPATCH_EXPORT Batch {
public:
  explicit Batch(Agent agent, BatchOptions options = {});
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  /// Arguments are taken by value now: what a pointer points to may change until the submission, the pointer not.
  /// Throws Error when grid, group or group memory are more than kernel or agent allow; nothing is recorded then.
  template <class... Parameters, class... Arguments>
    requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
  void dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, Arguments&&... arguments);

  /// A copy by the device's copy engine. Throws Error when the sizes differ or a side is pageable memory: use
  /// PinnedBuffer, PinnedMemoryResource or Pin, or copy outside the batch.
  void copy(const MemoryView& destination, const MemoryView& source);
  template <class T, std::size_t extent>
  void copy(const MemoryView& destination, std::span<T, extent> source) {
    copy(destination, view_of(agent(), detail::bytes_of(std::span<T>(source))));
  }
  template <class T, std::size_t extent>
  void copy(std::span<T, extent> destination, const MemoryView& source) {
    static_assert(!std::is_const_v<T>, "the destination of a copy must be writable");
    copy(view_of(agent(), detail::bytes_of(std::span<T>(destination))), source);
  }

  /// Forgets what was recorded; submissions in flight keep theirs.
  void clear();

  [[nodiscard]] std::size_t dispatches() const;
  [[nodiscard]] std::size_t copies() const;
  [[nodiscard]] Agent agent() const;

  /// What Queue::submit publishes; made at the first call after recording, stays where it is until the next recording.
  /// `queue` is asked for by kernels whose implicit arguments name their queue.
  [[nodiscard]] const std::shared_ptr<const detail::BatchImage>& image(const hsa_queue_t* queue);

private:
  /// Makes room for the kernel's arguments, the implicit ones recorded, and returns where to write the explicit ones.
  [[nodiscard]] std::byte* record(const detail::KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory);

  std::unique_ptr<detail::BatchRecording> recording_;
};

// ---- details

template <class... Parameters, class... Arguments>
  requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
void Batch::dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, Arguments&&... arguments) {
  std::byte* kernarg = record(kernel.info(), grid, kernel.local_memory(arguments...));
  kernel.write_arguments(kernarg, std::forward<Arguments>(arguments)...);
}

}  // namespace fastdispatch
