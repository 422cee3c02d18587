// The trace that the process records, if it records one.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hsa/hsa.h>
#include <sys/types.h>

#include "dispatch/trace/device_clock.hpp"
#include "fastdispatch/detail/hsa_api.hpp"
#include "trace_format/trace_event.hpp"
#include "trace_format/trace_file.hpp"

namespace fastdispatch::detail {

using trace_format::TraceEvent;
using trace_format::TraceTime;
using trace_format::Track;

/// What knows of work whose times can be read only when it has completed.
class TraceSource {
public:
  /// Writes the events of what has completed.
  virtual void collect() noexcept = 0;

protected:
  ~TraceSource() = default;
};

/// Thread safety: every member may be called from any thread. Locks are taken in this order: that of the sources, one
/// source's own, that of the file.
class TraceSession {
public:
  [[nodiscard]] static TraceSession& instance();

  /// Begins a trace and returns its number. `name` is what the viewer calls the process.
  /// Throws Error when the file cannot be written, or when a trace is recorded already.
  std::uint64_t start(const std::filesystem::path& file, std::string_view name);
  /// The same, once a process, for the file that FASTDISPATCH_TRACE names, if it names one.
  void start_from_environment();
  /// Of the trace with this number; nothing if it has ended. Throw Error when the file could not be written.
  void flush(std::uint64_t number);
  void stop(std::uint64_t number);
  /// For the end of a Runtime: what completed is written now. Errors wait for the end of the trace.
  void flush_quietly() noexcept;
  /// Lets the trace end with the process, before the libraries that are loaded by now end.
  static void end_at_exit();

  /// Grows with each trace: what belongs to a smaller number belongs to a trace that has ended.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_.load(std::memory_order_acquire); }

  void add(TraceSource& source);
  void remove(TraceSource& source) noexcept;

  [[nodiscard]] TraceTime since_start(std::chrono::steady_clock::time_point time) const noexcept;
  [[nodiscard]] TraceTime now() const noexcept { return since_start(std::chrono::steady_clock::now()); }
  /// A clock that was compared within the last second.
  [[nodiscard]] DeviceClock clock(const HsaApi& api, std::uint64_t ticks_a_second);

  /// The calling thread's track.
  [[nodiscard]] Track this_thread();
  /// A new track of a GPU. Tracks are drawn in the order of `order`.
  [[nodiscard]] Track new_track(hsa_agent_t gpu, std::string_view gpu_name, std::string_view track_name, int order);
  [[nodiscard]] std::uint64_t new_arrow() noexcept { return arrows_.fetch_add(1, std::memory_order_relaxed) + 1; }

  /// Adds the event, if a trace is recorded.
  void write(TraceEvent event) noexcept;

private:
  TraceSession() = default;

  void collect_all() noexcept;
  void end_with_process() noexcept;

  std::mutex sources_mutex_;
  std::vector<TraceSource*> sources_;

  std::atomic<std::uint64_t> number_{0};
  std::atomic<std::chrono::steady_clock::time_point> start_{};
  std::atomic<std::uint64_t> arrows_{0};
  std::atomic<pid_t> process_{0};  // a child after fork has no part in the trace

  std::mutex mutex_;  // for all that follows
  std::optional<trace_format::TraceFile> file_;
  std::map<std::uint64_t, int> gpus_;
  int tracks_ = 0;
  DeviceClock clock_;
  std::chrono::steady_clock::time_point clock_compared_{};
};

}  // namespace fastdispatch::detail
