// A work-group on the processor: its LDS, its private memory, and its wavefronts as fibers.
//
// The fibers run in order on the calling thread, each until it waits or ends, or its turn is over. A work-group that
// waits for what is not its own doing, or whose turn is over, can be left and gone on with later, on any thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/execution/fiber.hpp"
#include "softgpu/compute/execution/launch.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/global_wave_sync.hpp"
#include "softgpu/compute/run_time/register_file.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

class ResidentGroup;

/// A wavefront that can wait.
struct Wave {
  enum class Status : std::uint8_t { ready, turn_over, at_barrier, at_unknown_code, at_global_sync, ended };

  /// What it asks of global wave sync.
  struct Request {
    GlobalSync instruction = GlobalSync::init;
    std::uint32_t resource = 0;
    std::uint32_t value = 0;
  };

  /// The work-groups whose wavefronts it runs one after the other, if none of them waits.
  struct Row {
    const PreparedLaunch* launch = nullptr;
    std::uint64_t next = 0;  ///< work-group; one that began is still `next`
    std::uint64_t end = 0;
    WorkGroup group{};
    Scratch scratch;
    std::uint32_t wave = 0;    ///< of `group`, in the present call of translated code
    std::uint32_t behind = 0;  ///< wavefronts that it may run then

    /// Goes on to the wavefront that translated code has come to.
    void follow(const WaveState& reached);
    /// Goes on by some wavefronts; false at the end.
    bool advance(std::uint64_t waves);
  };

  WaveState state;
  std::uint64_t prepared_for = 0;  ///< the launch that `state` is of, with `scratch`; 0: not known
  Scratch scratch;
  Row* row = nullptr;
  ResidentGroup* resident = nullptr;  ///< whose wavefront it is, unless it runs a row
  WaveCode code;
  Status status = Status::ended;
  bool cancelled = false;
  bool has_begun = false;  ///< and not ended
  Request request;
  GlobalWaveSync::Wait global_wait;
  std::optional<EarlyExit> early_exit;
  FaultGuard guard{&code};
  Wave* before = nullptr;  ///< in the circle of its resident group
  Wave* behind = nullptr;
  std::unique_ptr<RegisterFile> registers;
  Fiber fiber{[](void* wave) { return static_cast<Wave*>(wave)->run(); }, this};

  /// To its end. Returns the fiber of the wavefront that is next, if there is one to hand over to.
  Fiber* run();
  /// Lets the other wavefronts run; `because` tells the runner when to come back.
  void wait(Status because);
  /// Lets the others of its resident group run until all that have not ended wait here.
  void wait_at_barrier();
  /// Ends the body early, which waits or has not begun.
  void cancel();

private:
  void exit_if_asked();
  void run_to_end();
  void run_row();
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
  void begin(const PreparedLaunch& launch, const WorkGroup& group, const Scratch& scratch, ComputeUnitCaches* caches);
  /// Takes up a work-group within a row, with the wavefront whose turn was over. The wavefronts before it have ended.
  void begin_within(Wave::Row& row, std::unique_ptr<Wave>& wave);
  /// It goes on behind these caches, which see what it wrote behind others.
  void move_to(ComputeUnitCaches* caches);
  /// Runs the wavefronts until all have ended or wait, or the work-group's turn is over. A failure has ended the
  /// work-group.
  [[nodiscard]] std::variant<Progress, Failure> go_on(Patience patience);

  Failure end() override;
  /// Ends the work-group for lack of host memory.
  [[nodiscard]] Failure give_up();
  [[nodiscard]] bool got_on() const noexcept override { return progressed_; }
  [[nodiscard]] bool can_go_on() const noexcept override { return turn_over_; }
  [[nodiscard]] const PreparedLaunch& launch() const noexcept { return *launch_; }
  /// The wavefront to hand over to from one that came to the barrier: the next in order that is not there, else the
  /// first, which may be itself. Null where a wavefront waits for other work-groups: go_on has to see to it.
  [[nodiscard]] Wave* next_at_barrier() noexcept;
  /// The same from one that has ended; null also where it was the last, or ended early.
  [[nodiscard]] Wave* next_behind_ended(Wave& wave) noexcept;
  /// Whether no other wavefront has signaled the barrier as often.
  [[nodiscard]] bool is_first_to_signal(const Wave& wave) const noexcept;
  /// Before `wave` waits for anything but the barrier, or returns to the caller.
  void stop_at(Wave& wave) noexcept;

private:
  enum class Round : std::uint8_t { progressed, turn_over, slept, waited_for_the_grid, at_barrier };

  void take_up(const PreparedLaunch& launch, const WorkGroup& group);
  void begin_wave(std::uint32_t index, const Scratch& scratch, ComputeUnitCaches* caches);
  void prepare(Wave& wave, const Scratch& scratch, ComputeUnitCaches* caches);
  [[nodiscard]] std::variant<Round, Failure> run_once();
  [[nodiscard]] std::optional<Failure> resume(Wave& wave);
  void let_wait(Wave& wave);
  void form_circle() noexcept;
  [[nodiscard]] std::optional<Failure> carry_out_request(Wave& wave);
  void open_barrier() noexcept;
  void cancel();

  std::array<std::unique_ptr<Wave>, max_work_items_per_group / smallest_wavefront_size> waves_;
  std::uint32_t wave_count_ = 0;
  std::uint32_t next_ = 0;   ///< the wavefront whose turn is next, unless they are in a circle
  bool in_circle_ = false;   ///< none waits for anything but the barrier: they run in order, from barrier to barrier
  Wave* running_ = nullptr;  ///< the one that ran last
  std::uint32_t ended_ = 0;
  bool got_on_ = false;      ///< in the present round: a barrier opened, or a wavefront ended
  bool progressed_ = false;  ///< since it was gone on with last
  bool turn_over_ = false;   ///< it does not wait
  const PreparedLaunch* launch_ = nullptr;
  WorkGroup group_{};
  std::unique_ptr<std::byte[]> scratch_;
  std::size_t scratch_bytes_ = 0;
};

/// What every wavefront of a launch starts with, but for its SGPRs.
void prepare_launch(WaveState& state, std::byte* lds, const PreparedLaunch& launch, const Scratch& scratch,
                    ComputeUnitCaches* caches);

/// The initial state of one of its wavefronts. `group` must outlive it.
inline void prepare_wave(WaveState& state, const PreparedLaunch& launch, const WorkGroup& group, const Scratch& scratch,
                         std::uint32_t wave) {
  const std::uint32_t first_item = wave * group.lanes;
  const std::uint32_t items = std::min(group.work_items() - first_item, group.lanes);
  state.work_item_ids = launch.work_item_ids(group, first_item, state.room_for_ids);
  state.turn_since = 0;
  state.exec = ~std::uint64_t{0} >> (64 - items);
  state.wave_in_group = wave;
  state.vector_cache = launch.kernel().spreads_over_two_units() ? wave % 2 : 0;
  state.group = &group;
  const std::uint32_t offset = scratch.first_offset + wave * scratch.wave_bytes;
  launch.set_wave_scratch_offset(state.sgprs, offset);
  state.scratch_wave_base = scratch.base + offset;
  state.branch_target = WaveState::nowhere;
  state.waves_behind = 0;
  state.barrier_signals = 0;
}

}  // namespace softgpu::compute
