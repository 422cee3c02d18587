#include "dispatch/hostcall/messages.hpp"

#include <array>
#include <cstdint>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/hostcall/abi.hpp"
#include "expect_error.hpp"

namespace fastdispatch::detail::hostcall {
namespace {

using test::error_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Slot = std::array<std::uint64_t, words_per_lane>;

constexpr std::uint64_t length(std::uint64_t words) { return words << length_shift; }

TEST(HostcallMessages, in_one_piece_end_at_once) {
  Messages messages(4);
  Slot slot{begins_message | ends_message | length(3), 10, 11, 12, 99};
  EXPECT_THAT(messages.add(slot).value(), ElementsAre(10, 11, 12));
  EXPECT_EQ(messages.open(), 0U);
}

TEST(HostcallMessages, of_several_lanes_are_told_apart_by_their_numbers) {
  Messages messages(4);
  Slot first{begins_message | length(1), 10};
  Slot second{begins_message | length(1), 20};
  EXPECT_FALSE(messages.add(first));
  EXPECT_FALSE(messages.add(second));
  EXPECT_NE(first[0] >> number_shift, second[0] >> number_shift);
  EXPECT_EQ(first[0] & begins_message, 0U);

  // The device library keeps the number and sets length and end anew.
  const auto next = [](const Slot& slot, std::uint64_t flags) { return (slot[0] & ~std::uint64_t{0xff}) | flags; };
  first = {next(first, length(7)), 1, 2, 3, 4, 5, 6, 7};
  EXPECT_FALSE(messages.add(first));
  second = {next(second, length(0) | ends_message)};
  EXPECT_THAT(messages.add(second).value(), ElementsAre(20));
  first = {next(first, length(1) | ends_message), 8};
  EXPECT_THAT(messages.add(first).value(), ElementsAre(10, 1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(HostcallMessages, that_were_not_begun_are_an_error) {
  Messages messages(4);
  Slot slot{std::uint64_t{5} << number_shift | length(1), 1};
  EXPECT_THAT(error_of([&] { static_cast<void>(messages.add(slot)); }), HasSubstr("message 5"));
  Slot whole{begins_message | ends_message, 1};
  EXPECT_TRUE(messages.add(whole));
  Slot again{std::uint64_t{1} << number_shift | ends_message};
  EXPECT_THAT(error_of([&] { static_cast<void>(messages.add(again)); }), HasSubstr("not begun"));
}

TEST(HostcallMessages, with_reserved_bits_are_an_error) {
  Messages messages(4);
  Slot slot{begins_message | 4};
  EXPECT_THAT(error_of([&] { static_cast<void>(messages.add(slot)); }), HasSubstr("reserved bits"));
}

TEST(HostcallMessages, that_are_too_many_or_too_long_are_an_error) {
  Messages messages(2);
  for (int i = 0; i < 2; ++i) {
    Slot slot{begins_message};
    EXPECT_FALSE(messages.add(slot));
  }
  Slot third{begins_message};
  EXPECT_THAT(error_of([&] { static_cast<void>(messages.add(third)); }), HasSubstr("2 others"));

  Slot endless{std::uint64_t{1} << number_shift | length(7)};
  EXPECT_THAT(error_of([&] {
                while (true) static_cast<void>(messages.add(endless));
              }),
              HasSubstr("more than 16 MiB"));
  EXPECT_EQ(messages.open(), 1U);
}

}  // namespace
}  // namespace fastdispatch::detail::hostcall
