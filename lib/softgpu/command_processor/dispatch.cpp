#include "softgpu/command_processor/dispatch.hpp"

#include "softgpu/command_processor/aql_queue.hpp"
#include "softgpu/command_processor/command_processor.hpp"

namespace softgpu::command_processor {
namespace {

/// Of so many packets with kernels known as short one is timed: reading the clock takes as long as some of them run.
constexpr std::uint64_t packets_per_sample = 64;

/// So long after the last change, work-groups in turns may all wait for one that has not begun.
constexpr std::uint64_t longest_hold = 1'000'000'000;

bool is_timed(const Dispatch::Properties& properties) noexcept { return properties.profiled || properties.traced; }

}  // namespace

Dispatch::Dispatch(std::shared_ptr<AqlQueue> queue, std::shared_ptr<Grid> grid, const Properties& properties,
                   std::uint32_t cores)
    : queue_(std::move(queue)), grid_(std::move(grid)), properties_(properties), count_(grid_->group_count()),
      is_in_order_(properties.order.is_identity()), start_time_(is_timed(properties) ? gpu_clock() : 0) {
  shares_.deal(count_, cores);
}

void Dispatch::renew(AqlQueue& queue, std::shared_ptr<Grid> grid, const Properties& properties, std::uint32_t cores) {
  if (queue_.get() != &queue) queue_ = queue.shared_from_this();
  grid_ = std::move(grid);
  properties_ = properties;
  count_ = grid_->group_count();
  is_in_order_ = properties.order.is_identity();
  start_time_ = is_timed(properties) ? gpu_clock() : 0;
  shares_.deal(count_, cores);
  finished_.store(0, std::memory_order_relaxed);
  members_.store(0, std::memory_order_relaxed);
  paused_.store(0, std::memory_order_relaxed);
  last_pause_.store(0, std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
  failure_.reset();
}

std::uint64_t Dispatch::run(const Range& range, std::uint32_t worker, SetAside& set_aside) {
  const std::uint64_t start = range.begin == 0 ? gpu_clock() : 0;
  const std::uint64_t finished = run_range(range, worker, set_aside);
  if (start != 0 && finished == range.end - range.begin) note_pace(range, start);
  return finished;
}

std::uint64_t Dispatch::run_alone(std::uint32_t worker, SetAside& set_aside) {
  const std::uint64_t start = properties_.packet_index % packets_per_sample == 0 ? gpu_clock() : 0;
  const Range all{.begin = 0, .end = count_};
  const std::uint64_t finished = run_range(all, worker, set_aside);
  if (!set_aside.empty() || finished != count_) shares_.take_all();
  if (start != 0) note_pace(all, start);
  return finished;
}

std::uint64_t Dispatch::run_range(const Range& range, std::uint32_t worker, SetAside& set_aside) {
  std::uint64_t left = 0;
  for (std::uint64_t next = range.begin; next != range.end;) {
    if (is_over()) break;  // those that do not begin count as finished
    if (!take_place()) {
      shares_.give_back({.begin = next, .end = range.end});
      return next - range.begin - left;
    }
    auto outcome = is_in_order_ ? grid_->start_groups(worker, next, range.end)
                                : grid_->start_group(worker, properties_.order(next++));
    if (auto* failure = std::get_if<compute::Failure>(&outcome)) fail(std::move(*failure));
    auto* group = std::get_if<std::unique_ptr<compute::SuspendedGroup>>(&outcome);
    if (group == nullptr) {
      give_place_back();
      continue;
    }
    const bool is_paused = (*group)->can_go_on();
    set_aside.push_back(std::move(*group));
    ++left;
    if (!is_paused) continue;
    note_pause();
    if (next == range.end) break;
    shares_.give_back({.begin = next, .end = range.end});
    return next - range.begin - left;
  }
  return range.end - range.begin - left;
}

bool Dispatch::resume(std::unique_ptr<compute::SuspendedGroup>& group, std::uint32_t worker) {
  if (is_over()) {
    group.reset();
    give_place_back();
    return finished(1);
  }
  const bool was_paused = group->can_go_on();
  auto outcome = grid_->resume_group(worker, std::move(group));
  auto* again = std::get_if<std::unique_ptr<compute::SuspendedGroup>>(&outcome);
  const bool is_paused = again != nullptr && (*again)->can_go_on();
  if (is_paused && !was_paused) note_pause();
  if (was_paused && !is_paused) {
    paused_.fetch_sub(1, std::memory_order_relaxed);
    last_pause_.store(gpu_clock(), std::memory_order_relaxed);
  }
  if (again != nullptr) {
    group = std::move(*again);
    return false;
  }
  give_place_back();
  if (auto* failure = std::get_if<compute::Failure>(&outcome)) fail(std::move(*failure));
  return finished(1);
}

bool Dispatch::has_places() const noexcept {
  return !may_wait() || waits_for_itself() || queue_->resident_waves().have_room_for(grid_->waves_per_group());
}

// Work-groups that wait for their whole grid all begin: the queue has looked that the GPU holds them.
bool Dispatch::take_place() noexcept {
  if (!may_wait() || waits_for_itself()) return true;
  return queue_->resident_waves().begin(grid_->waves_per_group());
}

void Dispatch::give_place_back() noexcept {
  if (may_wait() && !waits_for_itself()) queue_->resident_waves().end(grid_->waves_per_group());
}

void Dispatch::note_pause() noexcept {
  paused_.fetch_add(1, std::memory_order_relaxed);
  last_pause_.store(gpu_clock(), std::memory_order_relaxed);
}

bool Dispatch::has_enough_in_turns(std::uint32_t workers) const noexcept {
  return paused_.load(std::memory_order_relaxed) >= workers &&
         gpu_clock() - last_pause_.load(std::memory_order_relaxed) < longest_hold;
}

bool Dispatch::end(std::unique_ptr<compute::SuspendedGroup>& group) {
  fail(group->end());
  group.reset();
  give_place_back();
  return finished(1);
}

bool Dispatch::is_over() const noexcept { return failed() || queue_->closed(); }

bool Dispatch::finished(std::uint64_t groups) noexcept {
  return groups != 0 && finished_.fetch_add(groups, std::memory_order_acq_rel) + groups == count_;
}

void Dispatch::note_pace(const Range& range, std::uint64_t start) noexcept {
  if (!is_over()) queue_->paces().note(properties_.kernel_object, range.end - range.begin, gpu_clock() - start);
}

void Dispatch::fail(compute::Failure failure) {
  if (failed_.exchange(true, std::memory_order_relaxed)) return;
  failure_ = std::move(failure);
}

void Dispatch::complete() {
  if (failure_)
    queue_->failed(*this, *failure_);
  else
    queue_->completed(*this);
}

}  // namespace softgpu::command_processor
