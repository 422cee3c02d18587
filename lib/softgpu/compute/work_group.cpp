// Runs the wavefronts of one work-group on the calling thread.
//
// A kernel whose wavefronts never wait for each other runs them by plain calls on the caller's stack. Otherwise each
// wavefront is a fiber: they run in order, each until it waits at a barrier, sleeps or ends.
#include <algorithm>
#include <array>
#include <bit>
#include <sstream>
#include <thread>

#include "fault_guard.hpp"
#include "fiber.hpp"
#include "interrupt.hpp"
#include "launch.hpp"
#include "register_file.hpp"

namespace softgpu::compute {
namespace {

/// A wavefront that can wait for others of its work-group.
struct Wave {
  enum class Status { ready, at_barrier, at_unknown_code, ended };

  WaveState state;
  WaveFunction function = nullptr;
  Status status = Status::ready;
  bool cancelled = false;
  std::optional<EarlyExit> early_exit;
  FaultGuard guard;
  std::unique_ptr<RegisterFile> registers;
  Fiber fiber{[](void* wave) { static_cast<Wave*>(wave)->run(); }, this};

  void run() {
    early_exit.reset();
    if (!cancelled) early_exit = guard.run([this] { run_to_end(); });
    status = Status::ended;
  }

  void run_to_end() {
    function(&state);
    while (state.branch_target != WaveState::nowhere) {
      wait(Status::at_unknown_code);  // the fiber's stack is too small to translate on
      function(&state);
    }
  }

  /// Lets the others run; `because` tells the runner when to come back.
  void wait(Status because) {
    status = because;
    FaultGuard* mine = FaultGuard::suspend();
    fiber.suspend();
    FaultGuard::resume(mine);
    if (cancelled) FaultGuard::exit({EarlyExit::Cause::cancelled});
    if (Interruptible::interrupted()) FaultGuard::exit({EarlyExit::Cause::interrupted});
  }
};

void wait_at_barrier(WaveState* state) { static_cast<Wave*>(state->runner)->wait(Wave::Status::at_barrier); }
void let_others_run(WaveState* state) { static_cast<Wave*>(state->runner)->wait(Wave::Status::ready); }
void pass_barrier_alone(WaveState*) {}
void let_other_threads_run(WaveState*) { std::this_thread::yield(); }
void trap(WaveState*, std::uint32_t, std::int64_t offset) {
  FaultGuard::exit({EarlyExit::Cause::trap, static_cast<std::uint64_t>(offset)});
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

/// The lanes of the wavefront that starts at `first_item`.
std::uint64_t initial_exec(const WorkGroup& group, std::uint32_t first_item) {
  const std::uint32_t items = std::min(group.work_items() - first_item, wavefront_size);
  return ~std::uint64_t{0} >> (wavefront_size - items);
}

Failure::Kind kind_of(EarlyExit::Cause cause) {
  if (cause == EarlyExit::Cause::interrupted) return Failure::Kind::interrupted;
  return cause == EarlyExit::Cause::trap ? Failure::Kind::trap : Failure::Kind::memory_fault;
}

Failure describe(const EarlyExit& exit, const WorkGroup& group) {
  std::ostringstream text;
  text << std::hex;
  switch (exit.cause) {
  case EarlyExit::Cause::memory_fault:
    text << "address 0x" << exit.address << " is not mapped; accessed";
    break;
  case EarlyExit::Cause::impossible_address:
    text << "an address of more than 48 bits, which cannot be mapped; accessed";
    break;
  case EarlyExit::Cause::interrupted:
    text << "ended after the time limit for kernels, executed";
    break;
  case EarlyExit::Cause::trap:
  case EarlyExit::Cause::cancelled:
    text << "s_trap at offset 0x" << exit.address << ", executed";
    break;
  }
  text << std::dec << " by work-group (" << group.id[0] << ", " << group.id[1] << ", " << group.id[2] << ')';
  return {kind_of(exit.cause), exit.address, text.str()};
}

}  // namespace

struct WorkGroupRunner::State {
  explicit State(std::uint32_t index) : worker_index(index) {}

  alignas(64) std::array<std::byte, max_lds_bytes_per_group> lds;
  WaveState lone_state;  ///< of whichever wavefront runs by a plain call
  FaultGuard lone_guard;
  std::array<std::unique_ptr<Wave>, max_waves_per_group> waves;
  std::unique_ptr<std::byte[]> own_scratch;
  std::size_t own_scratch_bytes = 0;
  std::uint32_t worker_index;

  Scratch find_scratch(const PreparedLaunch& launch);
  void prepare_group(WaveState& state, const PreparedLaunch& launch, const WorkGroup& group, const Scratch& scratch);
  static void prepare_wave(WaveState& state, const PreparedLaunch& launch, const WorkGroup& group,
                           const Scratch& scratch, std::uint32_t wave);
  std::optional<EarlyExit> run_in_turn(const PreparedLaunch& launch, const WorkGroup& group);
  std::optional<Failure> run_together(const PreparedLaunch& launch, const WorkGroup& group);
  static std::optional<Failure> resume(Wave& wave, const PreparedLaunch& launch);
  void cancel(std::uint32_t wave_count);
};

// Each runner has the slots of a whole work-group in the queue's scratch. A queue with fewer slots than the host has
// cores leaves the last runners without: they use memory of their own.
Scratch WorkGroupRunner::State::find_scratch(const PreparedLaunch& launch) {
  const std::uint32_t needed = launch.private_segment_bytes();
  if (needed == 0) return {};
  const QueueView& queue = launch.queue();
  Scratch scratch;
  scratch.wave_bytes = queue.scratch_bytes_per_lane * wavefront_size;
  const std::uint64_t group_bytes = std::uint64_t{scratch.wave_bytes} * max_waves_per_group;
  if (queue.scratch_bytes_per_lane >= needed && (worker_index + 1) * group_bytes <= queue.scratch_bytes) {
    scratch.base = queue.scratch_base;
    scratch.bytes = queue.scratch_bytes;
    scratch.first_offset = static_cast<std::uint32_t>(worker_index * group_bytes);
    return scratch;
  }
  constexpr std::uint32_t lane_granule = 16;
  scratch.wave_bytes = (needed + lane_granule - 1) / lane_granule * lane_granule * wavefront_size;
  scratch.bytes = std::uint64_t{scratch.wave_bytes} * max_waves_per_group;
  if (own_scratch_bytes < scratch.bytes) {
    own_scratch = std::make_unique_for_overwrite<std::byte[]>(scratch.bytes);
    own_scratch_bytes = scratch.bytes;
  }
  scratch.base = std::bit_cast<std::uint64_t>(own_scratch.get());
  return scratch;
}

void WorkGroupRunner::State::prepare_group(WaveState& state, const PreparedLaunch& launch, const WorkGroup& group,
                                           const Scratch& scratch) {
  launch.fill_sgprs(state.sgprs, group, scratch);
  state.lds = lds.data();
  state.lds_bytes = launch.lds_bytes();
  state.scratch_bytes_per_lane = scratch.wave_bytes / wavefront_size;
  state.shared_aperture = std::uint64_t{launch.queue().shared_aperture_high} << 32;
  state.private_aperture = std::uint64_t{launch.queue().private_aperture_high} << 32;
  state.code_address = launch.code_address();
  state.trap = trap;
  state.interrupt_host = interrupt_host;
  state.interrupts = launch.queue().interrupts;
}

void WorkGroupRunner::State::prepare_wave(WaveState& state, const PreparedLaunch& launch, const WorkGroup& group,
                                          const Scratch& scratch, std::uint32_t wave) {
  const std::uint32_t first_item = wave * wavefront_size;
  launch.fill_work_item_ids(state.vgpr0, group, first_item);
  state.exec = initial_exec(group, first_item);
  state.wave_in_group = wave;
  const std::uint32_t offset = scratch.first_offset + wave * scratch.wave_bytes;
  launch.set_wave_scratch_offset(state.sgprs, offset);
  state.scratch_wave_base = scratch.base + offset;
  state.branch_target = WaveState::nowhere;
}

std::optional<EarlyExit> WorkGroupRunner::State::run_in_turn(const PreparedLaunch& launch, const WorkGroup& group) {
  const WaveFunction function = launch.kernel().wave();
  const std::uint32_t wave_count = group.waves();
  const Scratch scratch = find_scratch(launch);
  prepare_group(lone_state, launch, group, scratch);
  lone_state.barrier = pass_barrier_alone;
  lone_state.yield = let_other_threads_run;
  return lone_guard.run([&] {
    for (std::uint32_t wave = 0; wave < wave_count; ++wave) {
      prepare_wave(lone_state, launch, group, scratch, wave);
      function(&lone_state);
    }
  });
}

std::optional<Failure> WorkGroupRunner::State::run_together(const PreparedLaunch& launch, const WorkGroup& group) {
  const std::uint32_t wave_count = group.waves();
  const Scratch scratch = find_scratch(launch);
  for (std::uint32_t i = 0; i < wave_count; ++i) {
    if (waves[i] == nullptr) waves[i] = std::make_unique<Wave>();
    Wave& wave = *waves[i];
    prepare_group(wave.state, launch, group, scratch);
    prepare_wave(wave.state, launch, group, scratch, i);
    wave.state.barrier = wait_at_barrier;
    wave.state.yield = let_others_run;
    wave.state.runner = &wave;
    wave.function = launch.kernel().wave();
    if (launch.kernel().regions() != nullptr && wave.registers == nullptr)
      wave.registers = std::make_unique<RegisterFile>();
    wave.state.registers = wave.registers.get();
    wave.status = Wave::Status::ready;
    wave.cancelled = false;
  }
  for (std::uint32_t ended = 0; ended < wave_count;) {
    bool someone_sleeps = false;
    for (std::uint32_t i = 0; i < wave_count; ++i) {
      Wave& wave = *waves[i];
      if (wave.status != Wave::Status::ready) continue;
      if (auto failure = resume(wave, launch)) {
        cancel(wave_count);
        return failure;
      }
      if (wave.early_exit) {
        const EarlyExit reason = *wave.early_exit;
        cancel(wave_count);
        return describe(reason, group);
      }
      if (wave.status == Wave::Status::ended) ++ended;
      if (wave.status == Wave::Status::ready) someone_sleeps = true;
    }
    if (someone_sleeps) {
      std::this_thread::yield();  // what it waits for may be another work-group's doing
      continue;
    }
    // All that have not ended are at the barrier: it opens.
    for (std::uint32_t i = 0; i < wave_count; ++i) {
      if (waves[i]->status == Wave::Status::at_barrier) waves[i]->status = Wave::Status::ready;
    }
  }
  return std::nullopt;
}

// Runs a wavefront until it ends or waits, through all the code that it calls.
std::optional<Failure> WorkGroupRunner::State::resume(Wave& wave, const PreparedLaunch& launch) {
  wave.fiber.resume();
  while (wave.status == Wave::Status::at_unknown_code) {
    auto code =
        launch.kernel().regions()->at(static_cast<std::int64_t>(wave.state.branch_target - wave.state.code_address));
    if (auto* failure = std::get_if<Failure>(&code)) return std::move(*failure);
    wave.function = std::get<WaveFunction>(code);
    wave.fiber.resume();
  }
  return std::nullopt;
}

// A fiber can only be used again once its body has ended.
void WorkGroupRunner::State::cancel(std::uint32_t wave_count) {
  for (std::uint32_t i = 0; i < wave_count; ++i) {
    Wave& wave = *waves[i];
    wave.cancelled = true;
    if (wave.status != Wave::Status::ended) wave.fiber.resume();
  }
}

WorkGroupRunner::WorkGroupRunner(std::uint32_t worker_index) : state_(std::make_unique<State>(worker_index)) {}
WorkGroupRunner::~WorkGroupRunner() = default;

std::optional<Failure> WorkGroupRunner::run(const Launch& launch, std::uint64_t group_index) {
  const auto& prepared = static_cast<const PreparedLaunch&>(launch);
  const WorkGroup group = prepared.group(group_index);
  const Interruptible interruptible(launch.identity());
  const bool waits = prepared.kernel().has_barrier() && group.waves() > 1;
  if (waits || prepared.kernel().regions() != nullptr) return state_->run_together(prepared, group);
  const auto exit = state_->run_in_turn(prepared, group);
  if (!exit) return std::nullopt;
  return describe(*exit, group);
}

}  // namespace softgpu::compute
