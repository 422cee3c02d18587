#include "softgpu/command_processor/dispatch.hpp"

#include "softgpu/command_processor/aql_queue.hpp"
#include "softgpu/command_processor/command_processor.hpp"

namespace softgpu::command_processor {
namespace {

/// Of so many packets with kernels known as short one is timed: reading the clock takes as long as some of them run.
constexpr std::uint64_t packets_per_sample = 64;

}  // namespace

Dispatch::Dispatch(std::shared_ptr<AqlQueue> queue, std::shared_ptr<Grid> grid, const Properties& properties,
                   std::uint32_t cores)
    : queue_(std::move(queue)), grid_(std::move(grid)), properties_(properties), count_(grid_->group_count()),
      runs_in_turn_(grid_->never_waits() && properties.order.is_identity()),
      start_time_(properties.profiled ? gpu_clock() : 0) {
  shares_.deal(count_, cores);
}

void Dispatch::renew(AqlQueue& queue, std::shared_ptr<Grid> grid, const Properties& properties, std::uint32_t cores) {
  if (queue_.get() != &queue) queue_ = queue.shared_from_this();
  grid_ = std::move(grid);
  properties_ = properties;
  count_ = grid_->group_count();
  runs_in_turn_ = grid_->never_waits() && properties.order.is_identity();
  start_time_ = properties.profiled ? gpu_clock() : 0;
  shares_.deal(count_, cores);
  finished_.store(0, std::memory_order_relaxed);
  members_.store(0, std::memory_order_relaxed);
  failed_.store(false, std::memory_order_relaxed);
  failure_.reset();
}

std::uint64_t Dispatch::run(const Range& range, std::uint32_t worker, Waiting& waiting) {
  std::uint64_t left = 0;
  const std::uint64_t start = range.begin == 0 ? gpu_clock() : 0;
  if (runs_in_turn_) {
    run_in_turn(range, worker);
    if (start != 0) note_pace(range, start);
    return range.end - range.begin;
  }
  for (std::uint64_t group = range.begin; group != range.end && !is_over(); ++group) {
    auto outcome = grid_->start_group(worker, properties_.order(group));
    if (auto* failure = std::get_if<compute::Failure>(&outcome)) fail(std::move(*failure));
    if (auto* waits = std::get_if<std::unique_ptr<compute::SuspendedGroup>>(&outcome)) {
      waiting.push_back(std::move(*waits));
      ++left;
    }
  }
  if (start != 0 && left == 0) note_pace(range, start);
  return range.end - range.begin - left;
}

bool Dispatch::resume(std::unique_ptr<compute::SuspendedGroup>& group, std::uint32_t worker) {
  if (is_over()) {
    group.reset();
    return finished(1);
  }
  auto outcome = grid_->resume_group(worker, std::move(group));
  if (auto* waits = std::get_if<std::unique_ptr<compute::SuspendedGroup>>(&outcome)) {
    group = std::move(*waits);
    return false;
  }
  if (auto* failure = std::get_if<compute::Failure>(&outcome)) fail(std::move(*failure));
  return finished(1);
}

bool Dispatch::end(std::unique_ptr<compute::SuspendedGroup>& group) {
  fail(group->end());
  group.reset();
  return finished(1);
}

bool Dispatch::is_over() const noexcept { return failed() || queue_->closed(); }

bool Dispatch::finished(std::uint64_t groups) noexcept {
  return groups != 0 && finished_.fetch_add(groups, std::memory_order_acq_rel) + groups == count_;
}

void Dispatch::run_alone(std::uint32_t worker) {
  const std::uint64_t start = properties_.packet_index % packets_per_sample == 0 ? gpu_clock() : 0;
  const Range all{.begin = 0, .end = count_};
  if (runs_in_turn_) {
    run_in_turn(all, worker);
  } else {
    for (std::uint64_t group = 0; group != count_ && !is_over(); ++group)
      if (auto failure = grid_->run_group(worker, group)) fail(std::move(*failure));
  }
  if (start != 0) note_pace(all, start);
}

void Dispatch::run_in_turn(const Range& range, std::uint32_t worker) {
  if (is_over()) return;
  if (auto failure = grid_->run_groups(worker, range.begin, range.end)) fail(std::move(*failure));
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
