#include "softgpu/command_processor/dispatch.hpp"

#include <algorithm>

#include "softgpu/command_processor/aql_queue.hpp"
#include "softgpu/command_processor/command_processor.hpp"

namespace softgpu::command_processor {
namespace {

/// Small enough that workers finish together, large enough that the counter is not contended.
constexpr std::uint64_t ranges_per_worker = 8;
constexpr std::uint64_t largest_range = 64;

}  // namespace

Dispatch::Dispatch(std::shared_ptr<AqlQueue> queue, std::shared_ptr<const Grid> grid, const Properties& properties,
                   std::uint32_t workers)
    : queue_(std::move(queue)), grid_(std::move(grid)), properties_(properties), count_(grid_->group_count()),
      chunk_(std::clamp<std::uint64_t>(count_ / (workers * ranges_per_worker), 1, largest_range)),
      start_time_(properties.profiled ? gpu_clock() : 0) {}

std::optional<Dispatch::Range> Dispatch::claim() noexcept {
  if (!has_unclaimed()) return std::nullopt;
  const std::uint64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
  if (begin >= count_) return std::nullopt;
  return Range{.begin = begin, .end = std::min(begin + chunk_, count_)};
}

bool Dispatch::run(const Range& range, std::uint32_t worker, Waiting& waiting) {
  std::uint64_t left = 0;
  for (std::uint64_t group = range.begin; group != range.end && !is_over(); ++group) {
    auto outcome = grid_->start_group(worker, properties_.order(group));
    if (auto* failure = std::get_if<compute::Failure>(&outcome)) fail(std::move(*failure));
    if (auto* waits = std::get_if<std::unique_ptr<compute::SuspendedGroup>>(&outcome)) {
      waiting.push_back(std::move(*waits));
      ++left;
    }
  }
  return finished(range.end - range.begin - left);
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
