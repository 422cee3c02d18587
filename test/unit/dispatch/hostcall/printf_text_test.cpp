// A kernel's printf against the host's, and messages that no printf sends.
#include "dispatch/hostcall/printf_text.hpp"

#include <climits>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hostcall_message.hpp"

namespace fastdispatch::detail::hostcall {
namespace {

std::string text_of(const std::vector<std::uint64_t>& message) {
  const auto printed = printf_text(message);
  EXPECT_TRUE(printed);
  return printed ? printed->text : std::string();
}

void expect_as_on_the_host(const char* format, auto... arguments) {
  std::string expected(1000, '\0');
  // One argument more than the format asks for, as compilers warn of a format alone.
  expected.resize(static_cast<std::size_t>(std::snprintf(expected.data(), expected.size(), format, arguments..., 0)));
  EXPECT_EQ(text_of(test::printf_message(0, format, arguments...)), expected) << format;
}

TEST(PrintfText, is_what_the_hosts_printf_prints) {
  expect_as_on_the_host("%d %i|%5d|%-5d|%05d|%+d|% d|%.3d", -1, INT_MIN, 42, 42, 42, 42, 42, 7);
  expect_as_on_the_host("%u %x %X %#x %o %#o", UINT_MAX, 0xbeefU, 0xbeefU, 255U, 8U, 8U);
  expect_as_on_the_host("%hhd %hhu %hd %hu", 'x', 200, -3, 65535);
  expect_as_on_the_host("%ld %lld %lu %llx", LONG_MIN, LLONG_MAX, ULONG_MAX, 0x123456789abcdefULL);
  expect_as_on_the_host("%zu %jd %td", std::size_t{1} << 40U, std::intmax_t{-5}, std::ptrdiff_t{-6});
  expect_as_on_the_host("%f %.2f %10.3f %-10.1f| %e %E %g %G %a", 1.5, 2.345, 3.14159, 2.5, 1e-10, 1e10, 0.1, 1e20,
                        0.5);
  expect_as_on_the_host("%f %F %e", std::numeric_limits<double>::infinity(), std::nan(""), -0.0);
  expect_as_on_the_host("%c%c%c %5c %%", 'a', 'b', '\n', 'z');
  expect_as_on_the_host("%p", reinterpret_cast<void*>(std::uintptr_t{0xdeadbeef000}));  // NOLINT
  expect_as_on_the_host("%s|%10s|%-10s|%.2s|%s", "text", "right", "left", "cut", "");
  expect_as_on_the_host("%*d|%-*d|%*d|%.*f|%.*f|%*.*s", 6, 1, 6, 2, -6, 3, 2, 1.2345, -1, 1.5, 8, 2, "abc");
  expect_as_on_the_host("no conversion at all");
  expect_as_on_the_host("");
}

// Every length of a text, so that its padding is met, with arguments behind it.
TEST(PrintfText, finds_the_arguments_behind_texts_of_any_length) {
  for (std::size_t length = 0; length < 40; ++length) {
    const std::string text(length, 'x');
    expect_as_on_the_host((text + "%s %d").c_str(), text.c_str(), 12345);
  }
}

TEST(PrintfText, may_be_long) {
  const std::string name(100'000, 'n');
  EXPECT_EQ(text_of(test::printf_message(0, "<%s>", name.c_str())), "<" + name + ">");
}

TEST(PrintfText, goes_to_the_stream_that_the_message_names) {
  EXPECT_EQ(printf_text(test::printf_message(0, "x"))->stream, Stream::out);
  EXPECT_EQ(printf_text(test::printf_message(1, "x"))->stream, Stream::err);
}

TEST(PrintfText, ignores_percent_n_and_its_argument) {
  int count = 77;
  EXPECT_EQ(text_of(test::printf_message(0, "a%nb%d", static_cast<const void*>(&count), 5)), "ab5");
  EXPECT_EQ(count, 77);
}

TEST(PrintfText, shows_specifiers_that_it_cannot_use_as_they_stand) {
  EXPECT_EQ(text_of(test::printf_message(0, "%y %d", 1)), "%y 1");
  EXPECT_EQ(text_of(test::printf_message(0, "100%")), "100%");
  EXPECT_EQ(text_of(test::printf_message(0, "%-+5.3ll")), "%-+5.3ll");
  EXPECT_EQ(text_of(test::printf_message(0, "%d and %d", 1)), "1 and %d");
  EXPECT_EQ(text_of(test::printf_message(0, "%s")), "%s");
  EXPECT_EQ(text_of(test::printf_message(0, "%*d")), "%*d");
  EXPECT_EQ(text_of(test::printf_message(0, "%.*d", 1)), "%.*d");
  EXPECT_EQ(text_of(test::printf_message(0, "%99999999999d", 1)), "%99999999999d");
  EXPECT_EQ(text_of(test::printf_message(0, "%1000000d", 1)), "%1000000d");
  EXPECT_EQ(text_of(test::printf_message(0, "%.1000000f", 1.0)), "%.1000000f");
  EXPECT_EQ(text_of(test::printf_message(0, "%*d", INT_MAX, 1)), "%*d");
  EXPECT_EQ(text_of(test::printf_message(0, "%*d", INT_MIN, 1)), "%*d");
  EXPECT_EQ(text_of(test::printf_message(0, "%.*d", INT_MAX, 1)), "%.*d");
}

TEST(PrintfText, of_a_text_without_an_end_stops_at_the_messages_end) {
  std::vector<std::uint64_t> message = test::printf_message(0, "%s");
  message.push_back(0x6161616161616161);
  EXPECT_EQ(text_of(message), "aaaaaaaa");
  EXPECT_EQ(text_of({0, 0x6161616161616161}), "aaaaaaaa");
}

TEST(PrintfText, needs_a_stream_and_a_format) {
  EXPECT_FALSE(printf_text({}));
  EXPECT_FALSE(printf_text(std::vector<std::uint64_t>{0}));
  EXPECT_FALSE(printf_text(test::printf_message(2, "x")));
}

TEST(PrintfText, survives_random_messages) {
  constexpr std::string_view letters = "%%%%*.-+ #0123456789hljztLdiouxXcfFeEgGaAspn";
  std::mt19937_64 random(1);
  for (int round = 0; round < 20'000; ++round) {
    std::string format;
    for (std::size_t i = random() % 30; i != 0; --i) format += letters[random() % letters.size()];
    std::vector<std::uint64_t> message = test::printf_message(0, format);
    for (std::size_t i = random() % 6; i != 0; --i) message.push_back(random() >> random() % 64);
    EXPECT_TRUE(printf_text(message));
  }
}

}  // namespace
}  // namespace fastdispatch::detail::hostcall
