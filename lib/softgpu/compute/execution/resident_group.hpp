// A work-group on the processor: its LDS, its private memory, and its wavefronts as fibers.
//
// The fibers run in order on the calling thread, each until it waits or ends. A work-group that waits for what is not
// its own doing can be left and gone on with later, on any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "softgpu/compute/emit/register_file.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/fiber.hpp"
#include "softgpu/compute/execution/launch.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/global_wave_sync.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// A wavefront that can wait.
struct Wave {
  enum class Status : std::uint8_t { ready, at_barrier, at_unknown_code, at_global_sync, ended };

  /// What it asks of global wave sync.
  struct Request {
    GlobalSync instruction = GlobalSync::init;
    std::uint32_t resource = 0;
    std::uint32_t value = 0;
  };

  WaveState state;
  WaveFunction function = nullptr;
  Status status = Status::ended;
  bool cancelled = false;
  Request request;
  GlobalWaveSync::Wait global_wait;
  std::optional<EarlyExit> early_exit;
  FaultGuard guard;
  std::unique_ptr<RegisterFile> registers;
  Fiber fiber{[](void* wave) { static_cast<Wave*>(wave)->run(); }, this};

  void run();
  /// Lets the other wavefronts run; `because` tells the runner when to come back.
  void wait(Status because);

private:
  void run_to_end();
};

/// Owns its wavefronts. Made once and used for one work-group after the other.
class ResidentGroup final : public SuspendedGroup {
public:
  enum class Progress : std::uint8_t { ended, waits };
  /// How long to stay with a work-group that waits for something outside of it.
  enum class Patience : std::uint8_t { some, none };

  ResidentGroup() = default;
  ~ResidentGroup() override;
  ResidentGroup(const ResidentGroup&) = delete;
  ResidentGroup& operator=(const ResidentGroup&) = delete;

  /// The work-group's LDS, also if its wavefronts are no fibers.
  alignas(64) std::array<std::byte, max_lds_bytes_per_group> lds;

  /// Memory of its own for the wavefronts of a kernel with so much private memory a lane.
  [[nodiscard]] Scratch scratch(std::uint32_t bytes_per_lane, const WorkGroup& group);

  /// Takes up a work-group. `launch` must outlive it.
  void begin(const PreparedLaunch& launch, const WorkGroup& group, const Scratch& scratch);
  /// Runs the wavefronts until all have ended or wait. A failure has ended the work-group.
  [[nodiscard]] std::variant<Progress, Failure> go_on(Patience patience);

  Failure end() override;
  /// Ends the work-group for lack of host memory.
  [[nodiscard]] Failure give_up();
  [[nodiscard]] bool got_on() const noexcept override { return progressed_; }
  [[nodiscard]] const PreparedLaunch& launch() const noexcept { return *launch_; }

private:
  enum class Round : std::uint8_t { progressed, slept, waited_for_the_grid, at_barrier };

  [[nodiscard]] std::variant<Round, Failure> run_once();
  [[nodiscard]] std::optional<Failure> resume(Wave& wave);
  [[nodiscard]] std::optional<Failure> carry_out_request(Wave& wave);
  void open_barrier() noexcept;
  void cancel();

  std::array<std::unique_ptr<Wave>, max_work_items_per_group / smallest_wavefront_size> waves_;
  std::uint32_t wave_count_ = 0;
  std::uint32_t ended_ = 0;
  bool progressed_ = false;  ///< since it was gone on with last
  const PreparedLaunch* launch_ = nullptr;
  WorkGroup group_{};
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
};

/// What every wavefront of a launch starts with, but for its SGPRs.
void prepare_launch(WaveState& state, std::byte* lds, const PreparedLaunch& launch, const Scratch& scratch);

/// The initial state of one of its wavefronts. `group` must outlive it.
inline void prepare_wave(WaveState& state, const PreparedLaunch& launch, const WorkGroup& group, const Scratch& scratch,
                         std::uint32_t wave) {
  const std::uint32_t first_item = wave * group.lanes;
  const std::uint32_t items = std::min(group.work_items() - first_item, group.lanes);
  state.work_item_ids = launch.work_item_ids(group, first_item, state.room_for_ids);
  state.exec = ~std::uint64_t{0} >> (64 - items);
  state.wave_in_group = wave;
  state.group = &group;
  const std::uint32_t offset = scratch.first_offset + wave * scratch.wave_bytes;
  launch.set_wave_scratch_offset(state.sgprs, offset);
  state.scratch_wave_base = scratch.base + offset;
  state.branch_target = WaveState::nowhere;
}

[[nodiscard]] Failure describe(const EarlyExit& exit, const WorkGroup& group);
[[nodiscard]] Failure out_of_memory(const WorkGroup& group);

}  // namespace softgpu::compute
