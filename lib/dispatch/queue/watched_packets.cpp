// Submissions of packets while the log or a trace watches.
#include <new>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/queue/packet_queue.hpp"
#include "dispatch/queue/packet_text.hpp"
#include "dispatch/trace/host_span.hpp"

namespace fastdispatch::detail {

namespace {

std::string name_of(std::span<const Packet> packets, const KernelNames& kernels) {
  if (packets.size() != 1) return fmt::format("{} packets", packets.size());
  const Packet& packet = packets.front();
  if (packet.header().type != PacketType::kernel_dispatch) return type_text(packet);
  return fmt::format("dispatch: {}", kernel_text(packet, kernels.find(packet.kernel_object())));
}

}  // namespace

Submission PacketQueue::submit_watched(std::span<const Packet> packets) {
  if (is_watched_by(Watcher::trace)) {
    const HostSpan span("submission", packets.size() == 1 ? "submit a packet" : "submit packets", {"queue", id()},
                        {"packets", packets.size()});
    if (try_enable_profiling()) return submit_traced(packets);
  }
  return submit_as_they_are<Watched::yes>(packets);
}

Submission PacketQueue::submit_traced(std::span<const Packet> packets) {
  trace_.collect();
  TimedPackets timed = time_packets(agent_, packets, ends_epoch(packets) == EndsEpoch::yes);
  if (timed.packets.size() > ring_.most_at_once()) {
    log().debug("queue {} has no times of {} packets in the trace: with the barrier packets that would tell them they "
                "do not fit into half of the ring",
                id(), packets.size());
    return submit_as_they_are<Watched::yes>(packets);
  }
  QueueTrace::Record record = QueueTrace::record(name_of(packets, state_of(agent_).kernels), std::move(timed.times));
  TracedSubmission& traced = record.front();
  traced.packets = std::move(timed.packets);
  traced.done = std::move(timed.done);
  const EndsEpoch ends = ends_epoch(traced.packets);
  const Ring::Reservation reservation = reserve(static_cast<std::uint32_t>(traced.packets.size()), ends);
  traced.note_publication(reservation.first);
  publish<Watched::yes>(reservation, traced.packets, ends);
  trace_.add(std::move(record));
  return submission(reservation.epoch);
}

// Before the packets are published: a packet that stops the device is in the log.
void PacketQueue::log_packets(std::uint64_t first, std::span<const Packet> packets,
                              EndsEpoch ends_epoch) const noexcept {
  if (!is_watched_by(Watcher::log)) return;
  try {
    const KernelNames& kernels = state_of(agent_).kernels;
    for (std::size_t i = 0; i != packets.size(); ++i) {
      Packet packet = packets[i];
      if (i + 1 == packets.size() && ends_epoch == EndsEpoch::yes) packet.set_completion_signal(epoch_signal_.handle());
      const bool is_dispatch = packet.header().type == PacketType::kernel_dispatch;
      const std::string kernel = is_dispatch ? kernels.find(packet.kernel_object()) : std::string();
      log().trace(packet_line({.queue = id(), .index = first + i}, packet, kernel));
    }
  } catch (const std::bad_alloc&) {  // the log has a line less
  }
}

}  // namespace fastdispatch::detail
