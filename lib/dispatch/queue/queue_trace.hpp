// A queue in a trace: its submissions, packets and copies, with the device's times.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include <hsa/hsa.h>

#include "dispatch/queue/kernel_times.hpp"
#include "dispatch/trace/trace_session.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/memory_view.hpp"
#include "fastdispatch/packets.hpp"
#include "trace_format/lanes.hpp"

namespace fastdispatch::detail {

/// A submission whose packets and copies have signals into which the device writes when they ran.
struct TracedSubmission {
  struct Copy {
    MemoryView destination;
    MemoryView source;
    hsa_signal_t done;
  };

  std::uint64_t trace;  ///< the number of its trace
  std::string name;
  std::shared_ptr<KernelTimes> times;  ///< owns the signals
  std::vector<Packet> packets{};       ///< as they are published, but for the epoch signal
  std::vector<hsa_signal_t> done{};    ///< of each packet; null: its times are not known
  std::vector<Copy> copies{};
  std::uint64_t first = 0;  ///< index of the first packet
  Track host{};
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point published{};

  /// Just before the packets are published. Throws nothing.
  void note_publication(std::uint64_t first_index) noexcept {
    first = first_index;
    published = std::chrono::steady_clock::now();
  }
};

/// Owns what a queue has submitted while a trace was recorded and what has not completed since, in the order of the
/// submissions. What completed goes into the trace: at the next submission, behind a wait, and when the trace or the
/// queue ends. So the memory in use is bounded by what is in flight.
///
/// Thread safety: every member may be called from any thread.
class QueueTrace final : public TraceSource {
public:
  /// A list, so that adding a submission that is published allocates nothing.
  using Record = std::list<TracedSubmission>;

  QueueTrace(Agent agent, std::uint64_t queue);
  ~QueueTrace() { end(); }
  QueueTrace(const QueueTrace&) = delete;
  QueueTrace& operator=(const QueueTrace&) = delete;

  /// A record of one submission of the calling thread.
  [[nodiscard]] static Record record(std::string name, std::shared_ptr<KernelTimes> times);
  void add(Record&& record) noexcept;
  void collect() noexcept override;
  /// To be called before the queue goes. What has not completed is forgotten.
  void end() noexcept;

private:
  struct Times {
    TraceTime begin;
    TraceTime end;
  };
  enum class Row : int { submissions, kernels, barriers, copies };

  void follow_trace();
  void write(const TracedSubmission& submission);
  [[nodiscard]] std::vector<Times> packet_times(const TracedSubmission& submission, const DeviceClock& clock) const;
  void write_packet(const TracedSubmission& submission, std::size_t number, const Times& times);
  void write_copies(const TracedSubmission& submission, const DeviceClock& clock, TraceTime& last_end);
  void write_arrow(const TracedSubmission& submission, const Track& to, TraceTime at) const;
  [[nodiscard]] Track track(Row row, const Times& times);
  /// The number of packets in the queue, up to the time `end`.
  void write_depth(const Track& row, TraceTime end);

  Agent agent_;
  std::uint64_t queue_;
  std::mutex mutex_;
  std::uint64_t trace_ = 0;
  Record pending_;
  TraceTime passed_{};  // when the packet processor had got past the last packet whose times are known
  std::array<trace_format::Lanes, 4> lanes_;  // by Row
  std::multimap<TraceTime, std::int64_t> depth_changes_;
  std::int64_t depth_ = 0;
  TraceTime depth_written_{};
  bool ended_ = false;
};

/// Packets of the user's with signals for their times, and the times.
struct TimedPackets {
  std::vector<Packet> packets;
  std::vector<hsa_signal_t> done;
  std::shared_ptr<KernelTimes> times;
};

/// Gives each packet a completion signal of its own. A signal of the user's goes to a barrier packet behind the
/// dispatch, which waits for the dispatch's signal. If the last of `packets` would end an epoch, a barrier packet that
/// ends it follows.
[[nodiscard]] TimedPackets time_packets(Agent agent, std::span<const Packet> packets, bool ends_epoch);

}  // namespace fastdispatch::detail
