#include "trace_format/trace_event.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace trace_format {
namespace {

using nlohmann::json;
using std::chrono::nanoseconds;

constexpr Track track{.process = 2, .thread = 7};

json parsed(TraceEvent event) { return json::parse(std::move(event).text()); }

TEST(TraceEvents, of_spans_have_times_in_microseconds) {
  EXPECT_EQ(
      parsed(TraceEvent::span(track, "kernel", "sort<int>(int*)", nanoseconds(1'234'005), nanoseconds(1'235'006))),
      json::parse(
          R"json({"ph":"X","name":"sort<int>(int*)","cat":"kernel","pid":2,"tid":7,"ts":1234.005,"dur":1.001})json"));
  EXPECT_EQ(parsed(TraceEvent::span(track, "wait", "early", nanoseconds(-1'005), nanoseconds(0)))["ts"], -1.005);
}

TEST(TraceEvents, have_arguments) {
  TraceEvent event = TraceEvent::span(track, "kernel", "k", nanoseconds(0), nanoseconds(1));
  event.arg("grid", "8 x 6").arg("packet", 18'446'744'073'709'551'615U);
  EXPECT_EQ(parsed(std::move(event))["args"], json::parse(R"({"grid":"8 x 6","packet":18446744073709551615})"));
}

TEST(TraceEvents, of_arrows_have_a_number_in_common) {
  const json start = parsed(TraceEvent::arrow_start(track, 5, nanoseconds(1000)));
  const json end = parsed(TraceEvent::arrow_end(track, 5, nanoseconds(2000)));
  EXPECT_EQ(start["ph"], "s");
  EXPECT_EQ(end["ph"], "f");
  EXPECT_EQ(end["bp"], "e");
  for (const char* key : {"id", "cat", "name"}) EXPECT_EQ(start[key], end[key]) << key;
}

TEST(TraceEvents, of_counts_and_names_have_what_viewers_want) {
  EXPECT_EQ(parsed(TraceEvent::count(track, "queue 1: packets", nanoseconds(2000), "packets", 3)),
            json::parse(R"({"ph":"C","name":"queue 1: packets","pid":2,"tid":7,"ts":2.0,"args":{"packets":3}})"));
  EXPECT_EQ(parsed(TraceEvent::process_name(2, "GPU 0")),
            json::parse(R"({"ph":"M","name":"process_name","pid":2,"tid":0,"args":{"name":"GPU 0"}})"));
  EXPECT_EQ(parsed(TraceEvent::thread_name(track, "kernels")),
            json::parse(R"({"ph":"M","name":"thread_name","pid":2,"tid":7,"args":{"name":"kernels"}})"));
  EXPECT_EQ(parsed(TraceEvent::sort_index(track, 4)),
            json::parse(R"({"ph":"M","name":"thread_sort_index","pid":2,"tid":7,"args":{"sort_index":4}})"));
}

TEST(JsonStrings, keep_what_json_allows_and_escape_the_rest) {
  for (const std::string text :
       {"", "plain", "\"quoted\" \\ back", "line\nfeed\ttab\x01\x1f\x7f", "f\xc3\xbcr \xe2\x82\xac \xf0\x9f\x98\x80"})
    EXPECT_EQ(json::parse(json_string(text)).get<std::string>(), text);
  EXPECT_EQ(json_string("\n"), R"("\u000a")");
}

TEST(JsonStrings, replace_bytes_that_are_no_utf8) {
  const std::string replacement = "\xef\xbf\xbd";
  for (const std::string bytes :
       {"\xff", "\x80", "\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    const auto text = json::parse(json_string("a" + bytes + "z")).get<std::string>();
    EXPECT_EQ(text.substr(0, 1), "a");
    EXPECT_EQ(text.substr(1, 3), replacement);
    EXPECT_EQ(text.back(), 'z');
  }
}

}  // namespace
}  // namespace trace_format
