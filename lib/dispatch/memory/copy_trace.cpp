#include "dispatch/memory/copy_trace.hpp"

#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/memory/buffer_name.hpp"
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

TraceEvent copy_event(const Track& track, const MemoryView& destination, const MemoryView& source, TraceTime begin,
                      TraceTime end) {
  const auto side = [](const MemoryView& view) { return view.kind == MemoryKind::device ? "device" : "host"; };
  TraceEvent event =
      TraceEvent::span(track, "copy", fmt::format("copy {} to {}", side(source), side(destination)), begin, end);
  event.arg("bytes", source.size);
  if (const std::string name = buffer_name(source); !name.empty()) event.arg("from", name);
  if (const std::string name = buffer_name(destination); !name.empty()) event.arg("to", name);
  return event;
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
    session.write(copy_event(state.copy_lanes.track_for(begin, end, new_track), destination, source, begin, end));
  } catch (const std::bad_alloc&) {  // the trace has an event less
  }
}

}  // namespace fastdispatch::detail
