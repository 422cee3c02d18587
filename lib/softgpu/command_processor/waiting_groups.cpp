#include "softgpu/command_processor/waiting_groups.hpp"

#include <utility>

#include "softgpu/command_processor/command_processor.hpp"

namespace softgpu::command_processor {
namespace {

/// A visitor that was not seen for so long is in a work-group that makes progress: another worker takes its place.
constexpr std::uint64_t longest_visit = 1'000'000;
/// For so long after a work-group made progress there is work for more than one visitor.
constexpr std::uint64_t lively = 200'000;
/// When no work-group made progress for so long, looking all the time is of no use.
constexpr std::uint64_t stuck = 1'000'000;

}  // namespace

void WaitingGroups::add(SetAsideGroup group) {
  if (size() == 0) last_progress_.store(gpu_clock(), std::memory_order_relaxed);
  groups_.add(std::move(group));
}

bool WaitingGroups::wants_visit_by(std::uint32_t worker) noexcept {
  if (size() == 0) return false;
  const std::uint64_t now = gpu_clock();
  std::uint32_t visitor = visitor_.load(std::memory_order_relaxed);
  if (visitor == worker) return true;
  if (visitor == nobody || now - last_visit_.load(std::memory_order_relaxed) > longest_visit) {
    last_visit_.store(now, std::memory_order_relaxed);
    if (visitor_.compare_exchange_strong(visitor, worker)) return true;
  }
  return now - last_progress_.load(std::memory_order_relaxed) < lively;
}

bool WaitingGroups::are_stuck() const noexcept {
  return gpu_clock() - last_progress_.load(std::memory_order_relaxed) > stuck;
}

void WaitingGroups::visited(bool got_on) noexcept {
  const std::uint64_t now = gpu_clock();
  last_visit_.store(now, std::memory_order_relaxed);
  if (got_on) last_progress_.store(now, std::memory_order_relaxed);
}

void WaitingGroups::leave(std::uint32_t worker) noexcept { visitor_.compare_exchange_strong(worker, nobody); }

}  // namespace softgpu::command_processor
