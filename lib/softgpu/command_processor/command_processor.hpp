// The soft GPUs' front end: queues in the program's memory on one side, worker threads on the other.
//
// Thread safety: every member may be called from any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <hsa/amd_hsa_queue.h>

#include "softgpu/command_processor/host.hpp"
#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::command_processor {

struct Options {
  std::uint32_t threads = 4;
  std::uint32_t compute_units = 104;               ///< of each GPU: how many work-groups it holds at once
  std::optional<std::uint64_t> shuffle_seed;       ///< reorders what may overlap, so that a missing barrier bit shows
  compute::L2Caches* l2s = nullptr;                ///< where kernels' stores stay until a release; null: in memory
  bool strict = false;                             ///< as the least generous hardware, see AqlQueue
  std::optional<std::chrono::seconds> time_limit;  ///< of a kernel; its queue then stops with an error
  std::vector<compute::EngineOptions> engines;     ///< how each GPU's kernels are translated; as many as GPUs
  const compute::AccessibleMemory* memory = nullptr;  ///< that kernels may access; outlives it; null: all memory
};

/// An AQL queue as a runtime makes it. `queue` carries the indices, the scratch fields and the inactive signal.
struct AqlQueueMemory {
  std::uint32_t gpu = 0;
  std::byte* ring = nullptr;
  std::uint64_t ring_bytes = 0;
  amd_queue_t* queue = nullptr;
  std::uint64_t* doorbell = nullptr;  ///< outlives the queue; null: the command processor's own
};

/// Where a queue has the 8 bytes of scratch_backing_memory_byte_size. From ROCr 7 on only a second version of the
/// structure in the headers has a field of this name.
inline constexpr std::size_t scratch_bytes_offset =
    offsetof(amd_queue_t, scratch_backing_memory_location) + sizeof(std::uint64_t);

/// A copy queue. Its indices are byte offsets that only grow.
struct SdmaQueueMemory {
  std::uint32_t gpu = 0;
  std::byte* ring = nullptr;
  std::uint64_t ring_bytes = 0;
  std::uint64_t* doorbell = nullptr;    ///< as an AQL queue's
  std::uint64_t* read_index = nullptr;  ///< both outlive the queue; null: the command processor's own
  std::uint64_t* write_index = nullptr;
};

/// Where the host rings, and for copy queues where it reads and writes the indices.
struct QueueHandle {
  std::uint64_t id = 0;
  std::uint64_t* doorbell = nullptr;
  std::uint64_t* read_index = nullptr;
  std::uint64_t* write_index = nullptr;
};

class CommandProcessor {
public:
  /// `host` must outlive it.
  CommandProcessor(const Options& options, Host& host);
  /// Stops the workers after the work-groups that they are in.
  ~CommandProcessor();
  CommandProcessor(const CommandProcessor&) = delete;
  CommandProcessor& operator=(const CommandProcessor&) = delete;

  [[nodiscard]] QueueHandle create(const AqlQueueMemory& memory);
  [[nodiscard]] QueueHandle create(const SdmaQueueMemory& memory);
  /// False where there is no such queue. Kernels of the queue that run are interrupted, as on hardware; afterwards
  /// nothing touches the queue's memory any more.
  bool destroy(std::uint64_t id);
  /// Stops or resumes fetching packets.
  bool set_active(std::uint64_t id, bool active);

  /// The same as a write to the queue's doorbell. False where there is no such queue.
  bool ring(std::uint64_t id);

  /// Restricts a queue's kernels to some compute units: bit i of the mask is compute unit i, no bits are all of them.
  /// False where there is no such queue, or it runs no kernels.
  bool enable_compute_units(std::uint64_t id, std::span<const std::uint32_t> mask);
  /// Gives a queue the resources of global wave sync. False where there is no such queue, or it runs no kernels.
  bool provide_global_sync(std::uint64_t id);

  /// Whether a queue's ring or indices, as far as they are the runtime's memory, are within the range.
  [[nodiscard]] bool has_queue_in(std::uint64_t base, std::size_t size);

  /// Code within the range is about to go away.
  void forget_code(std::uint64_t base, std::size_t size);
  /// The host is about to block: look at the queues now rather than after the current nap.
  void kick();
  /// At the process's exit, before LLVM's static objects go: a packet whose kernel is not translated waits for ever
  /// from now on. All others are carried out, as runtimes send packets, and wait for them, while the process exits.
  void stop_translating();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The GPUs' clock in nanoseconds: the same as std::chrono::steady_clock.
[[nodiscard]] std::uint64_t gpu_clock() noexcept;
[[nodiscard]] inline std::chrono::nanoseconds gpu_time() noexcept { return std::chrono::nanoseconds(gpu_clock()); }

}  // namespace softgpu::command_processor
