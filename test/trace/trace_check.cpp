#include "trace_check.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <tuple>

namespace fastdispatch::test {

namespace {

using nlohmann::json;

[[noreturn]] void refuse(const std::string& what, const json& event) {
  throw std::runtime_error(what + ": " + event.dump());
}

void expect(bool holds, const std::string& what, const json& event) {
  if (!holds) refuse(what, event);
}

json as_json(const TraceSpan& span) {
  return {{"category", span.category}, {"name", span.name},   {"begin", span.begin},
          {"end", span.end},           {"track", span.track}, {"args", span.args}};
}

std::int64_t nanoseconds(const json& event, const char* key) {
  expect(event.contains(key) && event[key].is_number(), std::string("no number ") + key, event);
  return std::llround(event[key].get<double>() * 1000);
}

bool is_text(const json& event, const char* key) { return event.contains(key) && event[key].is_string(); }
bool is_whole(const json& event, const char* key) { return event.contains(key) && event[key].is_number_integer(); }

}  // namespace

CheckedTrace::CheckedTrace(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("no file " + file.string());
  const json root = json::parse(stream);
  expect(root.is_object() && root.value("displayTimeUnit", "") == "ns", "the root is no trace", root);
  expect(root.contains("traceEvents") && root["traceEvents"].is_array(), "no list of events", root);
  for (const json& event : root["traceEvents"]) read(event);
  check_names();
  check_nesting();
  check_durations();
}

void CheckedTrace::read(const json& event) {
  expect(event.is_object() && is_text(event, "ph") && is_text(event, "name"), "no event", event);
  expect(is_whole(event, "pid") && is_whole(event, "tid"), "an event without a track", event);
  const std::pair<int, int> track(event["pid"], event["tid"]);
  const std::string phase = event["ph"];
  if (phase == "X") {
    expect(is_text(event, "cat"), "a span without a category", event);
    const std::int64_t begin = nanoseconds(event, "ts");
    const std::int64_t duration = nanoseconds(event, "dur");
    expect(begin >= 0 && duration >= 0, "a span out of time", event);
    spans_.push_back({.category = event["cat"],
                      .name = event["name"],
                      .track = track,
                      .begin = begin,
                      .end = begin + duration,
                      .args = event.value("args", json::object())});
  } else if (phase == "s" || phase == "f") {
    expect(is_whole(event, "id"), "an arrow without a number", event);
    Arrow& arrow = arrows_[event["id"]];
    const bool starts = phase == "s";
    expect(starts || event.value("bp", "") == "e", "an arrow to the span behind", event);
    ++(starts ? arrow.starts : arrow.ends);
    (starts ? arrow.start : arrow.end) = nanoseconds(event, "ts");
    (starts ? arrow.from : arrow.to) = track;
  } else if (phase == "C") {
    expect(event.contains("args") && event["args"].size() == 1 && event["args"].begin()->is_number_integer(),
           "a counter without a number", event);
    expect(nanoseconds(event, "ts") >= 0, "a counter out of time", event);
    const std::int64_t value = *event["args"].begin();
    expect(value >= 0, "a negative count", event);
    counters_[event["name"]] = value;
  } else if (phase == "M") {
    const std::string what = event["name"];
    if (what == "thread_sort_index") return;
    expect(event.contains("args") && is_text(event["args"], "name"), "a name without a name", event);
    if (what == "process_name")
      processes_[track.first] = event["args"]["name"];
    else if (what == "thread_name")
      tracks_[track] = event["args"]["name"];
    else
      refuse("metadata of an unknown kind", event);
  } else {
    refuse("an event of an unknown kind", event);
  }
}

void CheckedTrace::check_names() const {
  for (const TraceSpan& span : spans_) {
    expect(processes_.contains(span.track.first), "a process without a name", as_json(span));
    expect(tracks_.contains(span.track), "a track without a name", as_json(span));
  }
}

void CheckedTrace::check_nesting() const {
  std::vector<TraceSpan> sorted = spans_;
  std::ranges::stable_sort(sorted, [](const TraceSpan& a, const TraceSpan& b) {
    return std::tuple(a.track, a.begin, -a.end) < std::tuple(b.track, b.begin, -b.end);
  });
  std::vector<TraceSpan> open;
  for (const TraceSpan& span : sorted) {
    while (!open.empty() && (open.back().track != span.track || open.back().end <= span.begin)) open.pop_back();
    expect(open.empty() || open.back().holds(span), "spans that overlap on one track", as_json(span));
    open.push_back(span);
  }
}

void CheckedTrace::check_durations() const {
  for (const TraceSpan& span : spans_)
    if (span.category == "kernel" || span.category == "copy")
      expect(span.begin < span.end, "a kernel or copy that takes no time", as_json(span));
}

std::vector<TraceSpan> CheckedTrace::of(const std::string& category) const {
  std::vector<TraceSpan> found;
  std::ranges::copy_if(spans_, std::back_inserter(found),
                       [&](const TraceSpan& span) { return span.category == category; });
  return found;
}

std::vector<TraceSpan> CheckedTrace::submissions_of_queues() const {
  std::vector<TraceSpan> found = of("submission");
  std::erase_if(found, [](const TraceSpan& span) { return !span.args.contains("first packet"); });
  return found;
}

namespace {

void check_arrows(const CheckedTrace& trace) {
  std::size_t to_kernels = 0;
  for (const auto& numbered : trace.arrows()) {
    const CheckedTrace::Arrow& arrow = numbered.second;
    const json shown{{"arrow", numbered.first},
                     {"starts", arrow.starts},
                     {"ends", arrow.ends},
                     {"start", arrow.start},
                     {"end", arrow.end}};
    expect(arrow.starts == 1 && arrow.ends == 1, "an arrow without one of its ends", shown);
    expect(arrow.start <= arrow.end, "an arrow back in time", shown);
    expect(std::ranges::any_of(trace.spans(),
                               [&arrow](const TraceSpan& span) {
                                 return span.category == "submission" && span.track == arrow.from &&
                                        span.begin <= arrow.start && arrow.start <= span.end;
                               }),
           "an arrow that starts at no submission", shown);
    const auto target = std::ranges::find_if(trace.spans(), [&arrow](const TraceSpan& span) {
      return (span.category == "kernel" || span.category == "copy") && span.track == arrow.to &&
             span.begin == arrow.end;
    });
    expect(target != trace.spans().end(), "an arrow that ends at no kernel or copy", shown);
    if (target->category == "kernel") ++to_kernels;
  }
  const std::size_t kernels = trace.of("kernel").size();
  if (to_kernels != kernels)
    throw std::runtime_error(std::to_string(to_kernels) + " arrows to " + std::to_string(kernels) + " kernels");
}

void check_kernels(const CheckedTrace& trace) {
  const std::vector<TraceSpan> submissions = trace.submissions_of_queues();
  for (const TraceSpan& span : trace.spans()) {
    if (span.category != "kernel") continue;
    const std::int64_t packet = span.args.at("packet");
    const auto has_it = [&](const TraceSpan& submission) {
      const std::int64_t first = submission.args.at("first packet");
      const std::int64_t count = submission.args.at("packets");
      return submission.args.at("queue") == span.args.at("queue") && first <= packet && packet < first + count;
    };
    const auto submission = std::ranges::find_if(submissions, has_it);
    expect(submission != submissions.end(), "a kernel that nobody submitted", as_json(span));
    expect(submission->holds(span), "a kernel outside of its submission", as_json(span));
  }
}

}  // namespace

void check_submissions(const CheckedTrace& trace) {
  check_arrows(trace);
  check_kernels(trace);
}

void check_order_of_kernels(const CheckedTrace& trace) {
  std::map<std::int64_t, std::vector<TraceSpan>> queues;
  for (const TraceSpan& kernel : trace.of("kernel")) queues[kernel.args.at("queue")].push_back(kernel);
  for (auto& [queue, kernels] : queues) {
    std::ranges::sort(kernels, {},
                      [](const TraceSpan& kernel) { return kernel.args.at("packet").get<std::int64_t>(); });
    std::int64_t last_end = 0;
    for (const TraceSpan& kernel : kernels) {
      if (kernel.args.at("barrier bit") == "set")
        expect(last_end <= kernel.begin, "a kernel that begins too early", as_json(kernel));
      last_end = std::max(last_end, kernel.end);
    }
  }
}

}  // namespace fastdispatch::test
