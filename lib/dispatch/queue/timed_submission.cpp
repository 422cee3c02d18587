#include "fastdispatch/timed_submission.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <hsa/hsa_ext_amd.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/queue/kernel_times.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

namespace {

std::chrono::nanoseconds from_ticks(std::uint64_t ticks, std::uint64_t frequency) {
  constexpr std::uint64_t nanoseconds_a_second = 1'000'000'000;
  const std::uint64_t seconds = ticks / frequency;
  const std::uint64_t rest = ticks % frequency * nanoseconds_a_second / frequency;
  return std::chrono::seconds(seconds) + std::chrono::nanoseconds(rest);
}

}  // namespace

detail::KernelTimes::KernelTimes(Agent of, std::size_t dispatches) : runtime(share_runtime_of(of)), agent(of) {
  signals.reserve(dispatches);
  while (signals.size() != dispatches) signals.push_back(state_of(of).device_signals->acquire());
}

TimedSubmission::TimedSubmission(const Submission& submission, std::shared_ptr<detail::KernelTimes> times) noexcept
    : submission_(submission), times_(std::move(times)) {}
TimedSubmission::~TimedSubmission() = default;
TimedSubmission::TimedSubmission(TimedSubmission&&) noexcept = default;
TimedSubmission& TimedSubmission::operator=(TimedSubmission&&) noexcept = default;

std::vector<DeviceTime> TimedSubmission::dispatches() const {
  if (times_ == nullptr) throw Error("the times of a submission that was moved from");
  const Agent agent = times_->agent;
  const std::uint64_t frequency = detail::state_of(agent).timestamp_frequency;
  std::vector<DeviceTime> times;
  times.reserve(times_->signals.size());
  for (PooledSignal& signal : times_->signals) {
    if (signal->load() > 0) throw Error("the times of kernels that have not completed: wait for the submission first");
    hsa_amd_profiling_dispatch_time_t ticks{};
    detail::check(agent.api(), agent.api().amd_profiling_get_dispatch_time(agent.handle(), signal->handle(), &ticks),
                  "hsa_amd_profiling_get_dispatch_time", "reading when a kernel ran");
    times.push_back({.start = from_ticks(ticks.start, frequency), .end = from_ticks(ticks.end, frequency)});
  }
  return times;
}

std::chrono::nanoseconds TimedSubmission::kernel_time() const {
  std::chrono::nanoseconds sum{};
  for (const DeviceTime& time : dispatches()) sum += time.duration();
  return sum;
}

std::chrono::nanoseconds TimedSubmission::elapsed() const {
  const std::vector<DeviceTime> times = dispatches();
  if (times.empty()) return {};
  return std::ranges::max(times, {}, &DeviceTime::end).end - std::ranges::min(times, {}, &DeviceTime::start).start;
}

}  // namespace fastdispatch
