#include "dispatch/memory/copy_trace.hpp"

#include <mutex>
#include <new>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/trace/trace_session.hpp"
#include "fastdispatch/detail/check.hpp"

namespace fastdispatch::detail {

namespace {
constexpr int behind_queues = 1'000'000;  // the order of the track
}  // namespace

void enable_copy_times(Agent agent) noexcept {
  AgentState& state = state_of(agent);
  if (state.copies_are_timed.exchange(true, std::memory_order_relaxed)) return;
  const hsa_status_t status = agent.api().amd_profiling_async_copy_enable(true);
  if (status != HSA_STATUS_SUCCESS)
    log().debug("the trace has no times of copies: hsa_amd_profiling_async_copy_enable failed: {}",
                status_text(agent.api(), status));
}

std::optional<CopyTime> time_of_copy(Agent agent, hsa_signal_t done, const DeviceClock& clock) {
  hsa_amd_profiling_async_copy_time_t ticks{};
  if (agent.api().amd_profiling_get_async_copy_time(done, &ticks) != HSA_STATUS_SUCCESS || ticks.end <= ticks.start)
    return std::nullopt;
  return CopyTime{.begin = clock.host_time(ticks.start), .end = clock.host_time(ticks.end)};
}

std::string copy_name(const MemoryView& destination, const MemoryView& source) {
  const auto side = [](const MemoryView& view) { return view.kind == MemoryKind::device ? "device" : "host"; };
  return fmt::format("copy {} to {}", side(source), side(destination));
}

void trace_copy(Agent agent, hsa_signal_t done, const MemoryView& destination, const MemoryView& source) noexcept {
  try {
    TraceSession& session = TraceSession::instance();
    AgentState& state = state_of(agent);
    const auto time = time_of_copy(agent, done, session.clock(agent.api(), state.timestamp_frequency));
    if (!time) return;
    const TraceTime begin = session.since_start(time->begin);
    const TraceTime end = session.since_start(time->end);
    const auto new_track = [&](std::size_t lane) {
      return session.new_track(agent.handle(), agent.name(), trace_format::lane_name("copies", lane), behind_queues);
    };
    const std::scoped_lock lock(state.copy_lanes_mutex);
    if (std::exchange(state.copy_lanes_trace, session.number()) != session.number()) state.copy_lanes.clear();
    TraceEvent event = TraceEvent::span(state.copy_lanes.track_for(begin, end, new_track), "copy",
                                        copy_name(destination, source), begin, end);
    event.arg("bytes", source.size);
    session.write(std::move(event));
  } catch (const std::bad_alloc&) {  // the trace has an event less
  }
}

}  // namespace fastdispatch::detail
