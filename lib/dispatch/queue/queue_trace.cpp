#include "dispatch/queue/queue_trace.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "dispatch/memory/copy_trace.hpp"
#include "dispatch/queue/packet_text.hpp"
#include "dispatch/record/fence_rules.hpp"

namespace fastdispatch::detail {

namespace {

constexpr std::size_t rows = 4;
constexpr TraceTime unknown = TraceTime::min();

bool is_complete(const TracedSubmission& submission) noexcept {
  const auto has_ended = [](hsa_signal_t signal) { return signal.handle == 0 || load_acquire(signal) <= 0; };
  return std::ranges::all_of(submission.done, has_ended) &&
         std::ranges::all_of(submission.copies, has_ended, &TracedSubmission::Copy::done);
}

}  // namespace

QueueTrace::QueueTrace(Agent agent, std::uint64_t queue) : agent_(agent), queue_(queue) {
  TraceSession::instance().add(*this);
}

QueueTrace::Record QueueTrace::record(std::string name, std::shared_ptr<KernelTimes> times) {
  TraceSession& session = TraceSession::instance();
  Record record;
  record.push_back({.trace = session.number(), .name = std::move(name), .times = std::move(times)});
  record.front().host = session.this_thread();
  return record;
}

void QueueTrace::add(Record&& record) noexcept {
  const std::scoped_lock lock(mutex_);
  pending_.splice(pending_.end(), record);
}

void QueueTrace::end() noexcept {
  if (std::exchange(ended_, true)) return;
  collect();
  TraceSession::instance().remove(*this);
  const std::scoped_lock lock(mutex_);
  pending_.clear();
}

void QueueTrace::collect() noexcept {
  const std::scoped_lock lock(mutex_);
  if (pending_.empty()) return;
  follow_trace();
  // In the order in which they were submitted.
  while (!pending_.empty() && is_complete(pending_.front())) {
    try {
      write(pending_.front());
    } catch (const std::bad_alloc&) {  // the trace has a submission less
    }
    pending_.pop_front();
  }
}

// Forgets what belongs to a trace that has ended.
void QueueTrace::follow_trace() {
  const std::uint64_t number = TraceSession::instance().number();
  if (trace_ == number) return;
  trace_ = number;
  passed_ = {};
  depth_changes_.clear();
  depth_ = 0;
  depth_written_ = {};
  for (trace_format::Lanes& lanes : lanes_) lanes.clear();
  std::erase_if(pending_, [&](const TracedSubmission& submission) { return submission.trace != number; });
}

std::vector<QueueTrace::Times> QueueTrace::packet_times(const TracedSubmission& submission,
                                                        const DeviceClock& clock) const {
  const AgentState& state = state_of(agent_);
  const TraceSession& session = TraceSession::instance();
  std::vector<Times> result(submission.packets.size(), Times{.begin = unknown, .end = unknown});
  for (std::size_t i = 0; i != result.size(); ++i) {
    if (submission.done[i].handle == 0) continue;
    hsa_amd_profiling_dispatch_time_t ticks{};
    if (state.api->amd_profiling_get_dispatch_time(state.handle, submission.done[i], &ticks) != HSA_STATUS_SUCCESS)
      continue;
    result[i] = {.begin = session.since_start(clock.host_time(ticks.start)),
                 .end = session.since_start(clock.host_time(ticks.end))};
  }
  return result;
}

void QueueTrace::write(const TracedSubmission& submission) {
  TraceSession& session = TraceSession::instance();
  const AgentState& state = state_of(agent_);
  const DeviceClock clock = session.clock(*state.api, state.timestamp_frequency);
  std::vector<Times> times = packet_times(submission, clock);
  const TraceTime published = session.since_start(submission.published);
  passed_ = std::max(passed_, published);
  TraceTime last_end = published;
  depth_changes_.emplace(published, static_cast<std::int64_t>(times.size()));
  for (std::size_t i = 0; i != times.size(); ++i) {
    if (times[i].end == unknown) continue;
    const bool is_dispatch = submission.packets[i].header().type == PacketType::kernel_dispatch;
    // A barrier packet is waited at from when the packet before it was launched. Some devices write down the end only.
    if (!is_dispatch && times[i].begin >= times[i].end) times[i].begin = std::min(passed_, times[i].end);
    passed_ = std::max(passed_, is_dispatch ? times[i].begin : times[i].end);
    last_end = std::max(last_end, times[i].end);
    write_packet(submission, i, times[i]);
  }
  write_copies(submission, clock, last_end);
  for (const Times& one : times) depth_changes_.emplace(one.end == unknown ? last_end : one.end, -1);
  const Times whole{.begin = session.since_start(submission.begin), .end = last_end};
  const Track row = track(Row::submissions, whole);
  TraceEvent event = TraceEvent::span(row, "submission", submission.name, whole.begin, whole.end);
  event.arg("queue", queue_).arg("first packet", submission.first).arg("packets", submission.packets.size());
  event.arg("copies", submission.copies.size());
  session.write(std::move(event));
  write_depth(row, last_end);
}

void QueueTrace::write_packet(const TracedSubmission& submission, std::size_t number, const Times& times) {
  const Packet& packet = submission.packets[number];
  const bool is_dispatch = packet.header().type == PacketType::kernel_dispatch;
  const auto& [barrier, acquire, release] = packet.header().ordering;
  const Track row = track(is_dispatch ? Row::kernels : Row::barriers, times);
  TraceEvent event = TraceEvent::span(
      row, is_dispatch ? "kernel" : "barrier",
      is_dispatch ? kernel_text(packet, state_of(agent_).kernels.find(packet.kernel_object())) : type_text(packet),
      times.begin, times.end);
  event.arg("queue", queue_).arg("packet", submission.first + number);
  event.arg("barrier bit", barrier == BarrierBit::set ? "set" : "clear");
  event.arg("acquire", scope_text(acquire)).arg("release", scope_text(release));
  if (is_dispatch) {
    event.arg("grid", grid_text(packet)).arg("group", group_text(packet));
    event.arg("LDS bytes", lds_bytes(packet)).arg("private bytes", private_bytes(packet));
    event.arg("kernarg", fmt::format("{:#x}", kernarg_address(packet)));
  } else {
    event.arg("waits for", dependencies_text(packet));
  }
  TraceSession::instance().write(std::move(event));
  if (is_dispatch) write_arrow(submission, row, times.begin);
}

void QueueTrace::write_copies(const TracedSubmission& submission, const DeviceClock& clock, TraceTime& last_end) {
  TraceSession& session = TraceSession::instance();
  for (const auto& [destination, source, done] : submission.copies) {
    const auto time = time_of_copy(agent_, done, clock);
    if (!time) continue;
    const Times times{.begin = session.since_start(time->begin), .end = session.since_start(time->end)};
    last_end = std::max(last_end, times.end);
    const Track row = track(Row::copies, times);
    TraceEvent event = copy_event(row, destination, source, times.begin, times.end);
    event.arg("queue", queue_);
    session.write(std::move(event));
    write_arrow(submission, row, times.begin);
  }
}

void QueueTrace::write_arrow(const TracedSubmission& submission, const Track& to, TraceTime at) const {
  TraceSession& session = TraceSession::instance();
  const std::uint64_t arrow = session.new_arrow();
  session.write(TraceEvent::arrow_start(submission.host, arrow, session.since_start(submission.published)));
  session.write(TraceEvent::arrow_end(to, arrow, at));
}

Track QueueTrace::track(Row row, const Times& times) {
  constexpr std::string_view names[rows] = {"submissions", "kernels", "barriers", "copies"};
  const auto number = static_cast<std::size_t>(row);
  return lanes_[number].track_for(times.begin, times.end, [&](std::size_t lane) {
    return TraceSession::instance().new_track(
        agent_.handle(), agent_.name(),
        trace_format::lane_name(fmt::format("queue {}: {}", queue_, names[number]), lane),
        static_cast<int>(queue_ * rows + number));
  });
}

void QueueTrace::write_depth(const Track& row, TraceTime end) {
  const std::string name = fmt::format("queue {}: packets", queue_);
  while (!depth_changes_.empty() && depth_changes_.begin()->first <= end) {
    // What was written before stays: packets without a barrier bit may have completed earlier than others.
    const TraceTime at = std::max(depth_changes_.begin()->first, depth_written_);
    while (!depth_changes_.empty() && depth_changes_.begin()->first <= at) {
      depth_ += depth_changes_.begin()->second;
      depth_changes_.erase(depth_changes_.begin());
    }
    depth_written_ = at;
    TraceSession::instance().write(TraceEvent::count(row, name, at, "packets", depth_));
  }
}

TimedPackets time_packets(Agent agent, std::span<const Packet> packets, bool ends_epoch) {
  const auto is_dispatch = [](const Packet& packet) { return packet.header().type == PacketType::kernel_dispatch; };
  TimedPackets timed;
  timed.times = std::make_shared<KernelTimes>(agent, 0);
  timed.packets.reserve(2 * packets.size() + 1);
  SignalPool& pool = *state_of(agent).device_signals;
  const auto add = [&](const Packet& packet, hsa_signal_t done) {
    timed.packets.push_back(packet);
    timed.done.push_back(done);
  };
  for (Packet packet : packets) {
    const hsa_signal_t users = packet.completion_signal();
    if (users.handle != 0 && !is_dispatch(packet)) {
      add(packet, {});
      continue;
    }
    const hsa_signal_t done = timed.times->others.emplace_back(pool.acquire(1))->handle();
    packet.set_completion_signal(done);
    add(packet, done);
    if (users.handle != 0)
      add(encode(BarrierAnd{.ordering = fences::behind_signals, .signals = {done}, .completion_signal = users}), {});
  }
  if (ends_epoch) add(encode(BarrierAnd{.ordering = fences::behind_all}), {});
  return timed;
}

}  // namespace fastdispatch::detail
