#include "dispatch/hsa/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "capture.hpp"
#include "dispatch/hsa/watching.hpp"

namespace fastdispatch::test {
namespace {

using detail::log_level;
using testing::EndsWith;

TEST(Log, knows_the_names_of_levels_and_no_misspelt_ones) {
  EXPECT_EQ(log_level("off"), spdlog::level::off);
  EXPECT_EQ(log_level("error"), spdlog::level::err);
  EXPECT_EQ(log_level("warning"), spdlog::level::warn);
  EXPECT_EQ(log_level("info"), spdlog::level::info);
  EXPECT_EQ(log_level("debug"), spdlog::level::debug);
  EXPECT_EQ(log_level("packets"), detail::packets_level);
  EXPECT_EQ(log_level(""), spdlog::level::off);
  for (const char* misspelt : {"debgu", "Debug", "packet", "info "}) EXPECT_EQ(log_level(misspelt), std::nullopt);
}

TEST(Log, tells_a_misspelt_level_with_the_list_of_levels) {
  EXPECT_EQ(detail::misspelt_level("debgu"),
            "fastdispatch: FASTDISPATCH_LOG is 'debgu'; it may be off, error, warning, info, debug or packets");
}

TEST(Log, has_each_level_of_that_name_and_no_lower_one) {
  const auto line = [](spdlog::level::level_enum level, spdlog::level::level_enum of_message) {
    detail::set_log_level(level);
    const std::string text = captured(STDERR_FILENO, [&] { detail::log().log(of_message, "a message"); });
    detail::set_log_level(spdlog::level::off);
    return text;
  };
  for (const char* name : {"error", "warning", "info", "debug", "packets"}) {
    const spdlog::level::level_enum level = *log_level(name);
    EXPECT_THAT(line(level, level), EndsWith("[fastdispatch] [" + std::string(name) + "] a message\n"));
    if (level != detail::packets_level) {
      EXPECT_EQ(line(level, static_cast<spdlog::level::level_enum>(level - 1)), "") << name;
    }
  }
  EXPECT_EQ(line(spdlog::level::off, spdlog::level::err), "");
}

TEST(Log, watches_submissions_for_the_level_of_packets_only) {
  detail::set_log_level(spdlog::level::debug);
  EXPECT_FALSE(detail::is_watched());
  detail::set_log_level(detail::packets_level);
  EXPECT_TRUE(detail::is_watched_by(detail::Watcher::log));
  EXPECT_FALSE(detail::is_watched_by(detail::Watcher::trace));
  detail::set_log_level(spdlog::level::off);
  EXPECT_FALSE(detail::is_watched());
}

}  // namespace
}  // namespace fastdispatch::test
