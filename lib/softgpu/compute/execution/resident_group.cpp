#include "softgpu/compute/execution/resident_group.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <limits>
#include <new>
#include <thread>
#include <utility>
#include <variant>

#include "softgpu/compute/execution/failures.hpp"
#include "softgpu/compute/run_time/accessible_memory.hpp"
#include "softgpu/compute/run_time/interrupt.hpp"
#include "softgpu/compute/run_time/sanitizers.hpp"
#include "softgpu/compute/run_time/stack_switch.hpp"

namespace softgpu::compute {
namespace {

/// How long to stay with a work-group that sleeps: often its wait is over by then.
constexpr std::chrono::microseconds stay{100};
/// Rounds before the clock is looked at.
constexpr unsigned free_rounds = 8;
/// A work-group's turn: its memory is then in this core's caches. A wavefront's is shorter (memory_runtime.cpp).
constexpr std::chrono::milliseconds longest_turn{5};
/// In which a wavefront may go on during one turn, by branches to where registers say.
constexpr unsigned functions_per_turn = 4096;

Wave& wave_of(WaveState* state) { return *static_cast<Wave*>(state->runner); }

void let_others_run(WaveState* state) { wave_of(state).wait(Wave::Status::ready); }
void end_turn(WaveState* state) { wave_of(state).wait(Wave::Status::turn_over); }

void sync_globally(WaveState* state, std::uint32_t instruction, std::uint32_t resource, std::uint32_t value) {
  Wave& wave = wave_of(state);
  wave.request = {.instruction = static_cast<GlobalSync>(instruction), .resource = resource, .value = value};
  wave.wait(Wave::Status::at_global_sync);
}

void trap(WaveState*, std::uint32_t, std::int64_t offset) {
  FaultGuard::exit({.cause = EarlyExit::Cause::trap, .instruction = static_cast<std::uint64_t>(offset)});
}

/// The handler is no code of the kernel's: an interrupt of this thread must not take it out of there.
void interrupt_host(WaveState* state, std::uint32_t data) {
  if (state->interrupts == nullptr) return;
  FaultGuard* guard = FaultGuard::suspend();
  constexpr std::uint32_t carried = 0xffffff;
  state->interrupts->kernel_interrupt(data & carried);
  FaultGuard::resume(guard);
  if (Interruptible::interrupted()) FaultGuard::exit({EarlyExit::Cause::interrupted});
}

std::uint32_t signals_first(WaveState* state) {
  const Wave& wave = wave_of(state);
  return wave.resident->is_first_to_signal(wave) ? 1 : 0;
}

}  // namespace

extern "C" void softgpu_ask_at_barrier(WaveState* state) { wave_of(state).wait_at_barrier(); }

void prepare_launch(WaveState& state, std::byte* lds, const PreparedLaunch& launch, const Scratch& scratch,
                    ComputeUnitCaches* caches) {
  state.caches = caches;
  state.launch = &launch;
  state.lds = lds;
  state.lds_bytes = launch.lds_bytes();
  state.wavefront_size = launch.kernel().target().wavefront_size;
  state.scratch_bytes_per_lane = scratch.wave_bytes / state.wavefront_size;
  state.shared_aperture = std::uint64_t{launch.queue().shared_aperture_high} << 32;
  state.private_aperture = std::uint64_t{launch.queue().private_aperture_high} << 32;
  state.code_address = launch.code_address();
  state.memory = launch.queue().memory;
  const auto window = state.memory != nullptr ? state.memory->window() : AccessibleMemory::Window{};
  state.window_base = window.base;
  state.window_mask = window.mask;
  std::ranges::fill(state.ranges, WaveState::Range{});
  state.packet_address = launch.packet_address();
  state.end_turn = end_turn;
  state.trap = trap;
  state.interrupt_host = interrupt_host;
  state.interrupts = launch.queue().interrupts;
}

Fiber* Wave::run() {
  early_exit.reset();
  has_begun = true;
  if (!cancelled) early_exit = guard.run([this] { row != nullptr ? run_row() : run_to_end(); });
  has_begun = false;
  status = Status::ended;
  if (row != nullptr || cancelled) return nullptr;
  Wave* next = resident->next_behind_ended(*this);
  return next != nullptr ? &next->fiber : nullptr;
}

// There is nothing in it that has to be ended in order: an early exit may come anywhere.
void Wave::run_row() {
  row->group = row->launch->group(row->next);
  do {
    row->launch->set_group_id(state.sgprs, row->group);
    prepare_wave(state, *row->launch, row->group, row->scratch, row->wave);
    row->behind = row->launch->following_waves(row->group, row->wave, row->end - row->next);
    if (row->behind != 0) {
      state.waves_behind = row->behind;
      state.waves_in_group = row->group.waves();
      state.group_ids = state.work_item_ids - std::size_t{row->wave} * row->group.lanes;
    }
    code.run(&state);
    if (row == nullptr) return;  // its turn was over; somebody else goes on with the row
  } while (row->advance(std::uint64_t{1} + row->behind - state.waves_behind));
}

void Wave::Row::follow(const WaveState& reached) { advance(behind - reached.waves_behind); }

bool Wave::Row::advance(std::uint64_t waves) {
  const std::uint32_t in_group = group.waves();
  waves += wave;
  if (waves < in_group) {
    wave = static_cast<std::uint32_t>(waves);
    return true;
  }
  const std::uint64_t groups = waves / in_group;
  wave = static_cast<std::uint32_t>(waves % in_group);
  next += groups;
  if (next == end) return false;
  group = launch->group_behind(group, static_cast<std::uint32_t>(groups));
  return true;
}

void Wave::run_to_end() {
  code.run(&state);
  while (state.branch_target != WaveState::nowhere) {
    wait(Status::at_unknown_code);  // the fiber's stack is too small to translate on
    code.run(&state);
  }
}

void Wave::wait(Status because) {
  if (row == nullptr) resident->stop_at(*this);
  status = because;
  FaultGuard* mine = FaultGuard::suspend();  // nothing may jump out of a switch that sanitizers are being told of
  fiber.suspend();
  FaultGuard::resume(mine);
  exit_if_asked();
}

void Wave::wait_at_barrier() {
  status = Status::at_barrier;
  Wave* next = resident->next_at_barrier();
  if (next == this) return;
  FaultGuard* mine = FaultGuard::suspend();
  if (next == nullptr) {
    resident->stop_at(*this);
    fiber.suspend();
  } else {
    fiber.hand_over_to(next->fiber);
  }
  FaultGuard::resume(mine);
  exit_if_asked();
}

void Wave::exit_if_asked() {
  if (Interruptible::interrupted()) FaultGuard::exit({EarlyExit::Cause::interrupted});
}

void Wave::cancel() {
  cancelled = true;
  const auto leave = [](void* wave) {
    FaultGuard::resume(&static_cast<Wave*>(wave)->guard);
    FaultGuard::exit({EarlyExit::Cause::cancelled});
  };
  if (has_begun) fiber.call_when_resumed(leave, this);
  fiber.resume();
}

ResidentGroup::~ResidentGroup() { cancel(); }

Scratch ResidentGroup::scratch(std::uint32_t bytes_per_lane, const WorkGroup& group) {
  constexpr std::uint64_t lane_granule = 16;
  const std::uint64_t wave_bytes = (bytes_per_lane + lane_granule - 1) / lane_granule * lane_granule * group.lanes;
  if (wave_bytes > std::numeric_limits<std::uint32_t>::max()) throw std::bad_alloc();
  Scratch result;
  result.wave_bytes = static_cast<std::uint32_t>(wave_bytes);
  result.bytes = std::uint64_t{result.wave_bytes} * group.waves();
  if (scratch_bytes_ < result.bytes) {
    scratch_ = std::make_unique_for_overwrite<std::byte[]>(result.bytes);
    scratch_bytes_ = result.bytes;
  }
  result.base = std::bit_cast<std::uint64_t>(scratch_.get());
  return result;
}

void ResidentGroup::begin(const PreparedLaunch& launch, const WorkGroup& group, const Scratch& scratch,
                          ComputeUnitCaches* caches) {
  take_up(launch, group);
  for (std::uint32_t i = 0; i < wave_count_; ++i) begin_wave(i, scratch, caches);
  form_circle();
}

void ResidentGroup::begin_within(Wave::Row& row, std::unique_ptr<Wave>& wave) {
  const std::uint32_t index = wave->state.wave_in_group;
  take_up(*row.launch, row.group);
  for (std::uint32_t i = 0; i < index; ++i) waves_[i]->status = Wave::Status::ended;
  for (std::uint32_t i = index + 1; i < wave_count_; ++i) begin_wave(i, row.scratch, wave->state.caches);
  ended_ = index;
  next_ = index + 1;
  waves_[index].swap(wave);
  Wave& first = *waves_[index];
  first.state.group = &group_;
  first.status = Wave::Status::ready;
  let_wait(first);
  ++row.next;
}

void ResidentGroup::move_to(ComputeUnitCaches* caches) {
  ComputeUnitCaches* former = waves_[0]->state.caches;
  if (caches == nullptr || former == caches) return;
  former->leave();
  caches->take_over();
  for (std::uint32_t i = 0; i < wave_count_; ++i) waves_[i]->state.caches = caches;
}

void ResidentGroup::take_up(const PreparedLaunch& launch, const WorkGroup& group) {
  const std::uint32_t count = group.waves();
  for (std::uint32_t i = 0; i < count; ++i)
    if (waves_[i] == nullptr) waves_[i] = std::make_unique<Wave>();
  launch_ = &launch;
  group_ = group;
  ended_ = 0;
  next_ = 0;
  in_circle_ = false;
  wave_count_ = count;
}

void ResidentGroup::let_wait(Wave& wave) {
  wave.row = nullptr;
  wave.resident = this;
  wave.state.stack_behind_barrier = nullptr;
  wave.state.stack = &wave.fiber.left_stack();
  wave.state.barrier = softgpu_wait_at_barrier;
  wave.state.signals_first = signals_first;
  wave.state.yield = let_others_run;
  wave.state.sync_globally = sync_globally;
  wave.state.runner = &wave;
}

/// Does nothing where it was a wavefront of the same launch before.
void ResidentGroup::prepare(Wave& wave, const Scratch& scratch, ComputeUnitCaches* caches) {
  if (wave.prepared_for == launch_->identity() && wave.scratch == scratch && wave.state.lds == lds.data() &&
      wave.state.caches == caches)
    return;
  prepare_launch(wave.state, lds.data(), *launch_, scratch, caches);
  launch_->fill_sgprs(wave.state.sgprs, scratch);
  wave.prepared_for = launch_->identity();
  wave.scratch = scratch;
}

void ResidentGroup::begin_wave(std::uint32_t index, const Scratch& scratch, ComputeUnitCaches* caches) {
  Wave& wave = *waves_[index];
  prepare(wave, scratch, caches);
  launch_->set_group_id(wave.state.sgprs, group_);
  prepare_wave(wave.state, *launch_, group_, scratch, index);
  let_wait(wave);
  wave.code = launch_->kernel().wave();
  if (launch_->kernel().regions() != nullptr && wave.registers == nullptr)
    wave.registers = std::make_unique<RegisterFile>();
  wave.state.registers = wave.registers.get();
  wave.status = Wave::Status::ready;
  wave.cancelled = false;
}

std::variant<ResidentGroup::Progress, Failure> ResidentGroup::go_on(Patience patience) {
  using Clock = std::chrono::steady_clock;
  progressed_ = false;
  turn_over_ = false;
  unsigned idle_rounds = 0;
  Clock::time_point idle_since;
  std::optional<Clock::time_point> turn_since;
  while (ended_ != wave_count_) {
    auto round = run_once();
    if (auto* failure = std::get_if<Failure>(&round)) {
      cancel();
      return std::move(*failure);
    }
    switch (std::get<Round>(round)) {
    case Round::at_barrier:
      open_barrier();
      [[fallthrough]];
    case Round::progressed:
      progressed_ = true;
      idle_rounds = 0;
      continue;
    case Round::turn_over:
      progressed_ = true;
      idle_rounds = 0;
      if (!turn_since) turn_since = Clock::now();
      turn_over_ = Clock::now() - *turn_since > longest_turn;
      if (turn_over_) return Progress::waits;
      continue;
    case Round::waited_for_the_grid:
      return Progress::waits;
    case Round::slept:
      break;
    }
    // What it waits for may be another work-group's doing, or the host's.
    if (patience == Patience::none) return Progress::waits;
    if (++idle_rounds == free_rounds) idle_since = Clock::now();
    if (idle_rounds > free_rounds && Clock::now() - idle_since > stay) return Progress::waits;
    std::this_thread::yield();
  }
  return Progress::ended;
}

/// Gives every wavefront that can go on a turn, up to one whose turn is over. At barriers and where they end, they hand
/// over to each other.
std::variant<ResidentGroup::Round, Failure> ResidentGroup::run_once() {
  bool progressed = false;
  bool slept = false;
  bool waits_for_grid = false;
  got_on_ = false;
  for (std::uint32_t n = 0; n < wave_count_; ++n) {
    if (next_ >= wave_count_) next_ = 0;
    Wave& first = *waves_[next_++];
    if (first.status == Wave::Status::at_global_sync) {
      if (!launch_->queue().global_sync->is_over(first.global_wait)) {
        waits_for_grid = true;
        continue;
      }
      first.status = Wave::Status::ready;
      progressed_ = true;
    }
    if (first.status != Wave::Status::ready) continue;
    if (auto failure = resume(first)) return *std::move(failure);
    Wave& wave = *running_;
    if (wave.early_exit) return describe(*wave.early_exit, group_, wave.state.wave_in_group);
    switch (wave.status) {
    case Wave::Status::ended:
      break;
    case Wave::Status::at_global_sync:
      if (auto failure = carry_out_request(wave)) return *std::move(failure);
      (wave.global_wait.kind == GlobalWaveSync::Wait::Kind::done ? progressed : waits_for_grid) = true;
      break;
    case Wave::Status::at_barrier:  // and another waits for other work-groups
      progressed = true;
      break;
    case Wave::Status::turn_over:
      wave.status = Wave::Status::ready;
      return Round::turn_over;
    case Wave::Status::ready:
    case Wave::Status::at_unknown_code:
      slept = true;
    }
  }
  if (progressed || got_on_) return Round::progressed;
  if (slept) return Round::slept;
  // None ran. Those that have not ended are at the barrier, and the last to run has ended.
  return waits_for_grid ? Round::waited_for_the_grid : Round::at_barrier;
}

// Runs a wavefront, and those that it hands over to, until one ends or waits or its turn is over, through all the code
// that it calls. A loop that leaves its function in every round does not come to look at the clock.
std::optional<Failure> ResidentGroup::resume(Wave& wave) {
  wave.state.turn_since = 0;
  running_ = &wave;
  wave.fiber.resume();
  for (unsigned functions = 1; running_->status == Wave::Status::at_unknown_code; ++functions) {
    Wave& leaving = *running_;
    auto code = launch_->kernel().regions()->at(
        static_cast<std::int64_t>(leaving.state.branch_target - leaving.state.code_address));
    if (auto* failure = std::get_if<Failure>(&code)) return std::move(*failure);
    leaving.code = std::get<WaveCode>(code);
    if (functions == functions_per_turn) {
      leaving.status = Wave::Status::turn_over;
      break;
    }
    leaving.fiber.resume();
  }
  return std::nullopt;
}

std::optional<Failure> ResidentGroup::carry_out_request(Wave& wave) {
  GlobalWaveSync* sync = launch_->queue().global_sync;
  if (sync == nullptr) {
    return Failure{Failure::Kind::illegal_instruction, 0,
                   "the kernel uses global wave sync (ds_gws_*), which its queue has not: a cooperative queue has it"};
  }
  const auto& [instruction, resource, value] = wave.request;
  wave.global_wait = sync->carry_out(instruction, resource, value);
  return std::nullopt;
}

// A wavefront's turn goes on, by its own clock, through barriers: a loop of barriers that never ends gives way, too.
Wave* ResidentGroup::next_at_barrier() noexcept {
  for (std::uint32_t n = 0; n < wave_count_; ++n) {
    if (next_ >= wave_count_) next_ = 0;
    Wave& wave = *waves_[next_];
    if (wave.status == Wave::Status::at_global_sync) return nullptr;
    ++next_;
    if (wave.status == Wave::Status::ready) return running_ = &wave;
  }
  open_barrier();
  return next_at_barrier();
}

Wave* ResidentGroup::next_behind_ended(Wave& wave) noexcept {
  running_ = &wave;
  if (wave.early_exit) return nullptr;
  got_on_ = true;
  if (++ended_ == wave_count_) return nullptr;
  if (!in_circle_) return next_at_barrier();
  wave.before->behind = wave.behind;
  wave.behind->before = wave.before;
  wave.before->state.stack_behind_barrier = wave.state.stack_behind_barrier;
  return wave.behind;
}

bool ResidentGroup::is_first_to_signal(const Wave& wave) const noexcept {
  if (wave_count_ == 1) return false;  // it is in no work-group, as the hardware sees it
  const std::uint32_t signals = wave.state.barrier_signals;
  return std::none_of(waves_.begin(), waves_.begin() + wave_count_, [&](const std::unique_ptr<Wave>& other) {
    return other.get() != &wave && other->state.barrier_signals >= signals;
  });
}

void ResidentGroup::stop_at(Wave& wave) noexcept {
  running_ = &wave;
  if (!in_circle_) return;
  in_circle_ = false;
  for (std::uint32_t i = 0; i < wave_count_; ++i) {
    Wave& other = *waves_[i];
    other.state.stack_behind_barrier = nullptr;
    if (i < wave.state.wave_in_group && other.status == Wave::Status::ready) other.status = Wave::Status::at_barrier;
  }
  next_ = wave.state.wave_in_group + 1;
}

void ResidentGroup::open_barrier() noexcept {
  got_on_ = true;
  for (std::uint32_t i = 0; i < wave_count_; ++i) {
    if (waves_[i]->status == Wave::Status::at_barrier) waves_[i]->status = Wave::Status::ready;
  }
  form_circle();
}

// They run in order, each to the next barrier: all before the running one have come there, and the one behind it can
// always go on. A sanitizer must be told of every switch.
void ResidentGroup::form_circle() noexcept {
  if (SOFTGPU_ADDRESS_SANITIZER || SOFTGPU_THREAD_SANITIZER) return;
  Wave* first = nullptr;
  Wave* last = nullptr;
  const auto put_behind = [](Wave& before, Wave& behind) {
    before.behind = &behind;
    behind.before = &before;
    before.state.stack_behind_barrier = &behind.fiber.left_stack();
  };
  for (std::uint32_t i = 0; i < wave_count_; ++i) {
    Wave& wave = *waves_[i];
    if (wave.status == Wave::Status::ended) continue;
    first == nullptr ? void(first = &wave) : put_behind(*last, wave);
    last = &wave;
  }
  put_behind(*last, *first);
  in_circle_ = true;
  next_ = first->state.wave_in_group;
}

// A fiber can only be used again once its body has ended.
void ResidentGroup::cancel() {
  for (std::uint32_t i = 0; i < wave_count_; ++i) {
    Wave& wave = *waves_[i];
    if (wave.status != Wave::Status::ended) wave.cancel();
  }
  wave_count_ = ended_ = 0;
}

Failure ResidentGroup::end() {
  cancel();
  return describe({EarlyExit::Cause::interrupted}, group_);
}

Failure ResidentGroup::give_up() {
  cancel();
  return out_of_memory(group_);
}

}  // namespace softgpu::compute
