// A trace as a viewer reads it: checked against the format and against what must hold of every trace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace fastdispatch::test {

/// A span of a track. Times are nanoseconds since the trace was started.
struct TraceSpan {
  std::string category;
  std::string name;
  std::pair<int, int> track;  ///< process and thread
  std::int64_t begin = 0;
  std::int64_t end = 0;
  nlohmann::json args;

  [[nodiscard]] bool holds(const TraceSpan& other) const { return begin <= other.begin && other.end <= end; }
};

/// The spans of a file that is in order; the constructor throws std::runtime_error, with the event, for any other:
/// - each event has the members that the Trace Event Format wants, of the types that it wants
/// - processes and tracks have names
/// - the spans of a track are nested or apart
/// - kernels and copies take time
/// - what is counted is never negative
class CheckedTrace {
public:
  explicit CheckedTrace(const std::filesystem::path& file);

  [[nodiscard]] std::vector<TraceSpan> of(const std::string& category) const;
  /// Of the host: submissions of threads; of a queue: from the call to the completion.
  [[nodiscard]] std::vector<TraceSpan> submissions_of_queues() const;
  [[nodiscard]] const std::vector<TraceSpan>& spans() const noexcept { return spans_; }
  /// The last value of each counter.
  [[nodiscard]] const std::map<std::string, std::int64_t>& counters() const noexcept { return counters_; }

  struct Arrow {
    int starts = 0;
    int ends = 0;
    std::pair<int, int> from;
    std::pair<int, int> to;
    std::int64_t start = 0;
    std::int64_t end = 0;
  };
  [[nodiscard]] const std::map<std::uint64_t, Arrow>& arrows() const noexcept { return arrows_; }

private:
  void read(const nlohmann::json& event);
  void check_names() const;
  void check_nesting() const;
  void check_durations() const;

  std::vector<TraceSpan> spans_;
  std::map<std::uint64_t, Arrow> arrows_;
  std::map<std::string, std::int64_t> counters_;
  std::map<int, std::string> processes_;
  std::map<std::pair<int, int>, std::string> tracks_;
};

/// What must hold of the library's traces, besides. Throws as above.
/// - each arrow goes from a submission of the host's to the beginning of a kernel or copy, and forward in time; each
///   kernel has one
/// - a kernel lies within a submission of its queue that has its packet
void check_submissions(const CheckedTrace& trace);

/// Kernels with the barrier bit begin when the earlier kernels of their queue have ended. Throws as above.
void check_order_of_kernels(const CheckedTrace& trace);

}  // namespace fastdispatch::test
