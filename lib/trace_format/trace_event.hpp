// One event of a trace as JSON. Format: "Trace Event Format", the JSON that Chrome and Perfetto read.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace trace_format {

/// Where an event is drawn: a thread of the host, or a row of a GPU.
struct Track {
  int process = 0;
  int thread = 0;

  friend bool operator==(const Track&, const Track&) = default;
};

/// Since the trace was started, by the host's steady clock.
using TraceTime = std::chrono::nanoseconds;

/// Owns the text of one event. Thread safety: none.
class TraceEvent {
public:
  /// A span of time. Spans of one track are nested or apart.
  [[nodiscard]] static TraceEvent span(const Track& track, std::string_view category, std::string_view name,
                                       TraceTime begin, TraceTime end);
  /// An arrow from the span that holds `at` to another.
  [[nodiscard]] static TraceEvent arrow_start(const Track& track, std::uint64_t arrow, TraceTime at);
  [[nodiscard]] static TraceEvent arrow_end(const Track& track, std::uint64_t arrow, TraceTime at);
  /// From `at` on, the value of what `name` counts.
  [[nodiscard]] static TraceEvent count(const Track& track, std::string_view name, TraceTime at, std::string_view unit,
                                        std::int64_t value);
  /// What the viewer calls a process or a track, and its place among the others.
  [[nodiscard]] static TraceEvent process_name(int process, std::string_view name);
  [[nodiscard]] static TraceEvent thread_name(const Track& track, std::string_view name);
  [[nodiscard]] static TraceEvent sort_index(const Track& track, int index);

  /// What the viewer shows of the event when it is chosen.
  TraceEvent& arg(std::string_view key, std::string_view value);
  TraceEvent& arg(std::string_view key, std::uint64_t value);

  /// The JSON object. Nothing may be added afterwards.
  [[nodiscard]] std::string text() &&;

private:
  TraceEvent(std::string_view phase, std::string_view name, const Track& track);
  void add_time(std::string_view key, TraceTime time);
  [[nodiscard]] TraceEvent as_arrow(std::uint64_t arrow, TraceTime at) &&;
  // `json` is a value.
  void add_member(std::string_view key, std::string_view json);
  void add_arg(std::string_view key, std::string_view json);

  std::string text_;
  bool has_args_ = false;
};

/// `text` as a JSON string, with its quotes. Bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace trace_format
