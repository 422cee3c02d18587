#include "trace_format/trace_event.hpp"

#include <cstddef>
#include <utility>

namespace trace_format {

namespace {

bool is_continuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0U) == 0x80; }

// How many bytes the UTF-8 sequence at the start of `text` has; 0 if there is none. Shortest forms only, without
// surrogates, up to U+10FFFF (RFC 3629).
std::size_t sequence_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) -> unsigned { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i != length; ++i)
    if (!is_continuation(text[i])) return 0;
  const unsigned second = byte(1);
  const bool is_bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return is_bad ? 0 : length;
}

std::string in_hex(unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  return {digits[byte >> 4U], digits[byte & 0xfU]};
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    const auto first = static_cast<unsigned char>(text.front());
    if (length == 0)
      result += "\\ufffd";
    else if (first == '"' || first == '\\')
      result += {'\\', text.front()};
    else if (first < 0x20 || first == 0x7f)
      result += "\\u00" + in_hex(first);
    else
      result += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return result + '"';
}

TraceEvent::TraceEvent(std::string_view phase, std::string_view name, const Track& track) {
  text_ = "{\"ph\":" + json_string(phase) + ",\"name\":" + json_string(name) +
          ",\"pid\":" + std::to_string(track.process) + ",\"tid\":" + std::to_string(track.thread);
}

// In microseconds, as the format wants it.
void TraceEvent::add_time(std::string_view key, TraceTime time) {
  const std::int64_t nanoseconds = time.count();
  const bool is_negative = nanoseconds < 0;
  const auto bits = static_cast<std::uint64_t>(nanoseconds);
  const std::uint64_t magnitude = is_negative ? std::uint64_t{0} - bits : bits;
  std::string number = is_negative ? "-" : "";
  number += std::to_string(magnitude / 1000);
  number += '.';
  number += std::to_string(1000 + magnitude % 1000).substr(1);  // three digits
  add_member(key, number);
}

void TraceEvent::add_member(std::string_view key, std::string_view json) {
  text_ += ",";
  text_ += json_string(key);
  text_ += ":";
  text_ += json;
}

TraceEvent TraceEvent::span(const Track& track, std::string_view category, std::string_view name, TraceTime begin,
                            TraceTime end) {
  TraceEvent event("X", name, track);
  event.add_member("cat", json_string(category));
  event.add_time("ts", begin);
  event.add_time("dur", end - begin);
  return event;
}

TraceEvent TraceEvent::arrow_start(const Track& track, std::uint64_t arrow, TraceTime at) {
  return TraceEvent("s", "submit", track).as_arrow(arrow, at);
}

TraceEvent TraceEvent::arrow_end(const Track& track, std::uint64_t arrow, TraceTime at) {
  TraceEvent event = TraceEvent("f", "submit", track).as_arrow(arrow, at);
  event.add_member("bp", "\"e\"");  // to the span that begins here
  return event;
}

TraceEvent TraceEvent::as_arrow(std::uint64_t arrow, TraceTime at) && {
  add_member("cat", "\"flow\"");
  add_member("id", std::to_string(arrow));
  add_time("ts", at);
  return std::move(*this);
}

TraceEvent TraceEvent::count(const Track& track, std::string_view name, TraceTime at, std::string_view unit,
                             std::int64_t value) {
  TraceEvent event("C", name, track);
  event.add_time("ts", at);
  event.add_arg(unit, std::to_string(value));
  return event;
}

TraceEvent TraceEvent::process_name(int process, std::string_view name) {
  return std::move(TraceEvent("M", "process_name", {.process = process, .thread = 0}).arg("name", name));
}

TraceEvent TraceEvent::thread_name(const Track& track, std::string_view name) {
  return std::move(TraceEvent("M", "thread_name", track).arg("name", name));
}

TraceEvent TraceEvent::sort_index(const Track& track, int index) {
  TraceEvent event("M", "thread_sort_index", track);
  event.add_arg("sort_index", std::to_string(index));
  return event;
}

void TraceEvent::add_arg(std::string_view key, std::string_view json) {
  text_ += has_args_ ? "," : ",\"args\":{";
  text_ += json_string(key);
  text_ += ":";
  text_ += json;
  has_args_ = true;
}

TraceEvent& TraceEvent::arg(std::string_view key, std::string_view value) {
  add_arg(key, json_string(value));
  return *this;
}

TraceEvent& TraceEvent::arg(std::string_view key, std::uint64_t value) {
  add_arg(key, std::to_string(value));
  return *this;
}

std::string TraceEvent::text() && {
  text_ += has_args_ ? "}}" : "}";
  return std::move(text_);
}

}  // namespace trace_format
