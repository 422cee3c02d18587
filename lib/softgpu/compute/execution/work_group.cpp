// Runs the wavefronts of one work-group on the calling thread.
//
// Wavefronts that wait for nothing run one after the other, on the caller's stack if their kernel has no loop, else on
// one fiber. Otherwise each wavefront is a fiber. A work-group of fibers can be set aside while it waits.
#include <chrono>
#include <memory>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "softgpu/compute/execution/failures.hpp"
#include "softgpu/compute/execution/launch.hpp"
#include "softgpu/compute/execution/resident_group.hpp"
#include "softgpu/compute/run_time/compute_unit_caches.hpp"
#include "softgpu/compute/run_time/fault_guard.hpp"
#include "softgpu/compute/run_time/interrupt.hpp"

namespace softgpu::compute {
namespace {

void pass_barrier_alone(WaveState*) {}
std::uint32_t signal_alone(WaveState*) { return 0; }  // it is in no work-group, as the hardware sees it
void let_other_threads_run(WaveState*) { std::this_thread::yield(); }

/// Tells code that is to be replaced how long it ran.
class RunTime {
public:
  explicit RunTime(const Kernel& kernel) : code_(kernel.provisional()) {
    if (code_ != nullptr) since_ = Clock::now();
  }
  ~RunTime() {
    if (code_ != nullptr) code_->ran_for(Clock::now() - since_);
  }
  RunTime(const RunTime&) = delete;
  RunTime& operator=(const RunTime&) = delete;

private:
  using Clock = std::chrono::steady_clock;

  ProvisionalCode* code_;
  Clock::time_point since_;
};

/// How many are kept for the next work-groups: more wait at a time only if a grid waits for itself.
constexpr std::size_t most_spares = 64;

}  // namespace

struct WorkGroupRunner::State {
  explicit State(std::uint32_t index) : worker_index(index) {}

  std::unique_ptr<Wave> in_turn = std::make_unique<Wave>();  ///< of whichever wavefront of a row runs
  Wave::Row row;
  std::unique_ptr<ResidentGroup> resident = std::make_unique_for_overwrite<ResidentGroup>();
  std::vector<std::unique_ptr<ResidentGroup>> spares;
  std::uint32_t worker_index;

  std::unique_ptr<ComputeUnitCaches> caches;

  std::uint64_t last_launch = 0;  ///< whose work-group `last` began last
  std::uint64_t last_index = 0;
  WorkGroup last{};

  /// Work-groups are mostly begun in order, and the next one is known from the last without divisions.
  const WorkGroup& next_group(const PreparedLaunch& launch, std::uint64_t index);
  /// Null where the GPU has none.
  ComputeUnitCaches* find_caches(const PreparedLaunch& launch);
  Scratch find_scratch(const PreparedLaunch& launch, const WorkGroup& group);
  Outcome run_in_turn(const PreparedLaunch& launch, std::uint64_t& begin, std::uint64_t end);
  Outcome go_on(ResidentGroup::Patience patience);
  void set_resident(std::unique_ptr<ResidentGroup> group);
};

const WorkGroup& WorkGroupRunner::State::next_group(const PreparedLaunch& launch, std::uint64_t index) {
  const bool is_behind = launch.identity() == last_launch && index == last_index + 1;
  last = is_behind ? launch.group_behind(last) : launch.group(index);
  last_launch = launch.identity();
  last_index = index;
  return last;
}

ComputeUnitCaches* WorkGroupRunner::State::find_caches(const PreparedLaunch& launch) {
  const std::atomic<std::uint64_t>* acquires = launch.queue().acquires;
  if (acquires == nullptr) return nullptr;
  if (caches == nullptr) {
    const bool has_shader_array_cache = launch.kernel().target().architecture->has_shader_array_cache;
    caches = std::make_unique<ComputeUnitCaches>(worker_index, launch.queue().l2s, has_shader_array_cache);
  }
  caches->catch_up(acquires->load(std::memory_order_acquire));
  return caches.get();
}

// Each runner has the slots of a whole work-group in the queue's scratch. A queue with fewer slots than the host has
// cores leaves the last runners without, and a work-group that is set aside must not keep the next from its slots:
// these have memory of their own.
Scratch WorkGroupRunner::State::find_scratch(const PreparedLaunch& launch, const WorkGroup& group) {
  const std::uint32_t needed = launch.private_segment_bytes();
  if (needed == 0) return {};
  const QueueView& queue = launch.queue();
  Scratch scratch;
  scratch.wave_bytes = queue.scratch_bytes_per_lane * group.lanes;
  const std::uint64_t group_bytes = std::uint64_t{queue.scratch_bytes_per_lane} * max_work_items_per_group;
  const bool has_slots =
      queue.scratch_bytes_per_lane >= needed && (worker_index + 1) * group_bytes <= queue.scratch_bytes;
  if (!has_slots || launch.waits_for() != WaitsFor::nothing) return resident->scratch(needed, group);
  scratch.base = queue.scratch_base;
  scratch.bytes = queue.scratch_bytes;
  scratch.first_offset = static_cast<std::uint32_t>(worker_index * group_bytes);
  return scratch;
}

WorkGroupRunner::Outcome WorkGroupRunner::State::run_in_turn(const PreparedLaunch& launch, std::uint64_t& begin,
                                                             std::uint64_t end) {
  // No work-group is larger than the first.
  row = {.launch = &launch, .next = begin, .end = end, .scratch = find_scratch(launch, launch.group(0))};
  Wave& wave = *in_turn;
  wave.row = &row;
  wave.prepared_for = 0;
  wave.code = launch.kernel().wave();
  wave.cancelled = false;
  wave.state.runner = &wave;
  prepare_launch(wave.state, resident->lds.data(), launch, row.scratch, find_caches(launch));
  launch.fill_sgprs(wave.state.sgprs, row.scratch);
  wave.state.group_id_place = launch.group_id_place();
  wave.state.barrier = pass_barrier_alone;
  wave.state.signals_first = signal_alone;
  wave.state.yield = let_other_threads_run;
  if (launch.waits_for() == WaitsFor::nothing)
    wave.run();
  else
    wave.fiber.resume();
  if (wave.status == Wave::Status::ended) {
    if (wave.early_exit) row.follow(wave.state);
    begin = row.next;
    if (wave.early_exit) return describe(*wave.early_exit, row.group, wave.state.wave_in_group);
    return std::monostate{};
  }
  try {
    resident->begin_within(row, in_turn);
  } catch (const std::bad_alloc&) {
    wave.cancel();
    throw;
  }
  begin = row.next;
  if (in_turn == nullptr) in_turn = std::make_unique<Wave>();
  return go_on(ResidentGroup::Patience::some);
}

WorkGroupRunner::Outcome WorkGroupRunner::State::go_on(ResidentGroup::Patience patience) {
  std::variant<ResidentGroup::Progress, Failure> progress;
  try {
    progress = resident->go_on(patience);
  } catch (const std::bad_alloc&) {
    return resident->give_up();
  }
  if (auto* failure = std::get_if<Failure>(&progress)) return std::move(*failure);
  if (std::get<ResidentGroup::Progress>(progress) == ResidentGroup::Progress::ended) return std::monostate{};
  auto waiting = std::move(resident);
  if (spares.empty()) {
    resident = std::make_unique_for_overwrite<ResidentGroup>();
  } else {
    resident = std::move(spares.back());
    spares.pop_back();
  }
  return waiting;
}

void WorkGroupRunner::State::set_resident(std::unique_ptr<ResidentGroup> group) {
  if (spares.size() < most_spares) spares.push_back(std::move(resident));
  resident = std::move(group);
}

WorkGroupRunner::WorkGroupRunner(std::uint32_t worker_index) : state_(std::make_unique<State>(worker_index)) {}
WorkGroupRunner::~WorkGroupRunner() = default;

std::optional<Failure> WorkGroupRunner::run(const Launch& launch, std::uint64_t group_index) {
  Outcome outcome = start(launch, group_index);
  while (auto* waiting = std::get_if<std::unique_ptr<SuspendedGroup>>(&outcome)) {
    if (!(*waiting)->can_go_on()) std::this_thread::yield();
    outcome = resume(std::move(*waiting));
  }
  if (auto* failure = std::get_if<Failure>(&outcome)) return std::move(*failure);
  return std::nullopt;
}

WorkGroupRunner::Outcome WorkGroupRunner::start(const Launch& launch, std::uint64_t& begin, std::uint64_t end) {
  const auto& prepared = static_cast<const PreparedLaunch&>(launch);
  const RunTime run_time(prepared.kernel());
  const Interruptible interruptible(launch.identity());
  try {
    return state_->run_in_turn(prepared, begin, end);
  } catch (const std::bad_alloc&) {
    return out_of_memory(prepared.group(begin));
  }
}

WorkGroupRunner::Outcome WorkGroupRunner::start(const Launch& launch, std::uint64_t group_index) {
  if (launch.runs_in_turn()) return start(launch, group_index, group_index + 1);
  const auto& prepared = static_cast<const PreparedLaunch&>(launch);
  const WorkGroup& group = state_->next_group(prepared, group_index);
  const RunTime run_time(prepared.kernel());
  const Interruptible interruptible(launch.identity());
  try {
    state_->resident->begin(prepared, group, state_->find_scratch(prepared, group), state_->find_caches(prepared));
  } catch (const std::bad_alloc&) {
    return out_of_memory(group);
  }
  return state_->go_on(ResidentGroup::Patience::some);
}

WorkGroupRunner::Outcome WorkGroupRunner::resume(std::unique_ptr<SuspendedGroup> group) {
  state_->set_resident(std::unique_ptr<ResidentGroup>(static_cast<ResidentGroup*>(group.release())));
  const PreparedLaunch& launch = state_->resident->launch();
  const RunTime run_time(launch.kernel());
  const Interruptible interruptible(launch.identity());
  try {
    state_->resident->move_to(state_->find_caches(launch));
  } catch (const std::bad_alloc&) {
    return state_->resident->give_up();
  }
  return state_->go_on(ResidentGroup::Patience::none);
}

}  // namespace softgpu::compute
