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

bool Dispatch::run(const Range& range, std::uint32_t worker) {
  for (std::uint64_t group = range.begin; group != range.end; ++group) {
    if (failed_.load(std::memory_order_relaxed) || queue_->closed()) break;
    if (auto failure = grid_->run_group(worker, properties_.order(group))) fail(std::move(*failure));
  }
  const std::uint64_t size = range.end - range.begin;
  return finished_.fetch_add(size, std::memory_order_acq_rel) + size == count_;
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
