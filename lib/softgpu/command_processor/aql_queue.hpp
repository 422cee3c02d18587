// One AQL queue: fetches packets in order and launches them.
//
// As on hardware, packets launch in order and complete in any order; the barrier bit waits for everything launched
// before. A slot is free for reuse once its packet is launched, not when it completes.
//
// Memory ordering: a packet's header is read with acquire before its body; the header's invalidation and the read
// index are released after it. Completion releases, so that the fences that packets ask for are always met.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <string_view>

#include "softgpu/command_processor/coming_kernels.hpp"
#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/command_processor/executions.hpp"
#include "softgpu/command_processor/grid.hpp"
#include "softgpu/command_processor/inactive_signal.hpp"
#include "softgpu/command_processor/paces.hpp"
#include "softgpu/command_processor/packets.hpp"
#include "softgpu/command_processor/queue.hpp"
#include "softgpu/command_processor/resident_waves.hpp"
#include "softgpu/compute/execution/compute_units.hpp"
#include "softgpu/compute/run_time/global_wave_sync.hpp"

namespace softgpu::command_processor {

class AqlQueue final : public Queue, public std::enable_shared_from_this<AqlQueue> {
public:
  struct Setup {
    std::uint64_t id = 0;
    AqlQueueMemory memory;
    std::uint64_t* doorbell = nullptr;
    std::uint32_t cores = 1;  ///< that work-groups are spread over
    std::uint32_t compute_units = 1;
    std::uint32_t resident_waves = ~std::uint32_t{0};  ///< most wavefronts that the GPU holds at once
    std::shared_ptr<const Executions> executions = nullptr;
    const compute::AccessibleMemory* accessible = nullptr;  ///< null: all memory
    std::optional<std::uint64_t> shuffle_seed;
    /// As the least generous hardware: the read index moves late and in steps, and barrier-value packets compare
    /// unsigned numbers and are refused where the GPU does not know them.
    bool strict = false;
    bool knows_barrier_values = true;
    std::atomic<std::uint64_t>* acquires = nullptr;  ///< of the agent's packets; null: its memory is coherent
    compute::L2Caches* l2s = nullptr;                ///< null: memory is as new
  };

  /// `grids` and `host` must outlive it.
  AqlQueue(const Setup& setup, GridSource& grids, Host& host);

  [[nodiscard]] bool enable_compute_units(std::span<const std::uint32_t> mask) override;
  [[nodiscard]] bool provide_global_sync() override;
  [[nodiscard]] bool is_in(std::uint64_t base, std::size_t size) const noexcept override;
  void wait_for_error_handler() const override { inactive_signal_.wait_for_handler(); }

  /// The packets that the program has written and the queue has not fetched.
  enum class Backlog : std::uint8_t {
    none,
    blocked,     ///< by the barrier bit of the first packet
    launchable,  ///< as soon as somebody looks
  };
  /// For workers that execute work-groups of this queue: its memory stays until they are finished.
  [[nodiscard]] Backlog backlog() const noexcept;

  void completed(const Dispatch& dispatch);
  void failed(const Dispatch& dispatch, const compute::Failure& failure);
  [[nodiscard]] Paces& paces() noexcept { return paces_; }
  [[nodiscard]] ResidentWaves& resident_waves() noexcept { return resident_waves_; }

private:
  enum class Outcome { done, launched, blocked };

  void fetch(Progress& progress, Lookout& lookout) override;
  bool assist(Lookout& lookout) override;
  void drain() override;

  void take_doorbell() noexcept;
  [[nodiscard]] Outcome carry_out(PacketHeader header, std::byte* slot, Progress& progress, Lookout& lookout);
  [[nodiscard]] Outcome launch(const Packet& packet, Progress& progress, Lookout& lookout);
  [[nodiscard]] std::optional<compute::Failure> prepare(std::shared_ptr<Grid>& grid,
                                                        const hsa_kernel_dispatch_packet_t& request,
                                                        const compute::QueueView& view, Lookout& lookout);
  void note_coming_kernels();
  [[nodiscard]] Outcome wait_for_all(const Packet& packet);
  [[nodiscard]] Outcome wait_for_any(const Packet& packet);
  [[nodiscard]] Outcome vendor(const Packet& packet);
  [[nodiscard]] Outcome complete(PacketHeader header, hsa_signal_t signal);
  [[nodiscard]] bool can_load(hsa_signal_t signal);
  void acquire() noexcept;
  void release(hsa_fence_scope_t scope) noexcept;
  void free_slot(PacketHeader header, std::byte* slot) noexcept;
  void publish_read_index() noexcept;

  // Scratch memory, which the runtime provides on demand.
  [[nodiscard]] bool waits_for_runtime();
  [[nodiscard]] bool may_ask_runtime() const noexcept;
  [[nodiscard]] Outcome request_scratch();
  [[nodiscard]] std::uint32_t worker_limit(const Packet& packet, const compute::QueueView& view) const noexcept;

  // Shuffling: launched kernels are held back a little, then run in a random order.
  void hold(std::shared_ptr<Dispatch> dispatch);
  void release_held(Progress& progress, bool now);

  [[nodiscard]] compute::QueueView view() const noexcept;
  [[nodiscard]] bool profiled() const noexcept;
  void trace_kernel(const Dispatch& dispatch, std::string_view failure);
  void trace_barrier(PacketHeader header);
  void stop_with(std::int64_t error_bits, std::uint64_t packet_index, std::string_view reason);
  /// `kernel_object` is 0 if the packet is no dispatch, or fails for another reason than its kernel.
  void stop_with(const compute::Failure& failure, std::uint64_t packet_index, std::uint64_t kernel_object = 0);
  void report(std::uint64_t packet_index, std::string_view reason);
  void log(std::uint64_t packet_index, std::string_view what);

  Setup setup_;
  amd_queue_t* queue_;
  std::uint64_t slot_mask_;
  GridSource& grids_;
  Host& host_;
  PacketTrace* trace_;  // null: none

  std::uint64_t next_ = 0;         // packet to fetch
  std::uint64_t limit_ = 0;        // first packet that was not rung for
  std::uint64_t waits_since_ = 0;  // a traced packet that is no dispatch, by gpu_clock; 0: none
  InactiveSignal inactive_signal_;
  bool scratch_is_single_use_ = false;
  std::atomic<std::uint64_t> in_flight_{0};
  Paces paces_;
  ResidentWaves resident_waves_;

  ComingKernels coming_kernels_;

  compute::ComputeUnits compute_units_;
  compute::GlobalWaveSync global_sync_resources_;
  std::atomic<compute::GlobalWaveSync*> global_sync_{nullptr};

  std::mt19937_64 random_;
  std::deque<std::shared_ptr<Dispatch>> held_;
  std::uint64_t held_since_ = 0;
  std::size_t releasable_ = 0;  // of held_, from the front
};

}  // namespace softgpu::command_processor
