#include "argument.hpp"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Argument argument_of(const std::string& text) {
  std::mt19937_64 generator(7);
  return make_argument(parse_argument(text), generator);
}

std::string error_of(const std::string& text) {
  try {
    static_cast<void>(argument_of(text));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

TEST(ArgumentText, has_a_name_a_type_extents_and_contents) {
  const ArgumentText array = parse_argument("out:f32[4,5]=random");
  EXPECT_EQ(array.kind, ArgumentText::Kind::array);
  EXPECT_EQ(array.name, "out");
  EXPECT_EQ(array.type, ElementType::f32);
  EXPECT_THAT(array.extents, ElementsAre(4, 5));
  EXPECT_EQ(array.contents, "random");
  EXPECT_EQ(parse_argument("i64=-5").kind, ArgumentText::Kind::value);
  EXPECT_EQ(parse_argument("u8[]=some/file.npy").contents, "some/file.npy");
  EXPECT_EQ(parse_argument("local=1024").kind, ArgumentText::Kind::local_memory);
}

TEST(ArgumentText, that_is_wrong_is_told_with_the_reason) {
  EXPECT_THAT(error_of("f33=1"), HasSubstr("'f33' is no type; the types are i8, i16"));
  EXPECT_THAT(error_of("float[4]"), HasSubstr("'float' is no type"));
  EXPECT_THAT(error_of("f32[4"), HasSubstr("']' of the extents is missing"));
  EXPECT_THAT(error_of("f32[4,]"), HasSubstr("the extents are numbers"));
  EXPECT_THAT(error_of("f32[-4]"), HasSubstr("the extents are numbers"));
  EXPECT_THAT(error_of("f32[0]"), HasSubstr("an extent is 0"));
  EXPECT_THAT(error_of("f32[]=iota"), HasSubstr("say them: f32[1024]"));
  EXPECT_THAT(error_of("f32"), HasSubstr("it has no value; f32=5 has"));
  EXPECT_THAT(error_of("f32="), HasSubstr("nothing follows the '='"));
  EXPECT_THAT(error_of(":f32=1"), HasSubstr("the name before the ':' is empty"));
}

TEST(Argument, holds_zeros_a_number_or_numbers_in_order) {
  EXPECT_EQ(text_of_elements(argument_of("i32[3]").array, 8), "0 0 0");
  EXPECT_EQ(text_of_elements(argument_of("i16[3]=-7").array, 8), "-7 -7 -7");
  EXPECT_EQ(text_of_elements(argument_of("f64[2,2]=iota").array, 8), "0 1 2 3");
  EXPECT_EQ(text_of_elements(argument_of("f16[4]=iota").array, 3), "0 1 2 ...");
  EXPECT_EQ(text_of_elements(argument_of("f32=0.5").array, 8), "0.5");
  EXPECT_EQ(text_of_elements(argument_of("u8[3]=1,2,255").array, 8), "1 2 255");
  EXPECT_EQ(argument_of("u32=64,64,32").array.bytes.size(), 12U);
  EXPECT_EQ(argument_of("local=96").local.bytes, 96U);
}

TEST(Argument, of_random_contents_repeats_with_the_seed_and_stays_in_its_range) {
  const Array floats = argument_of("f32[1000]=random").array;
  EXPECT_EQ(floats.bytes, argument_of("f32[1000]=random").array.bytes);
  std::mt19937_64 generator(7);
  for (std::size_t i = 0; i < 1000; ++i) {
    float value = 0;
    std::memcpy(&value, &floats.bytes[i * sizeof value], sizeof value);
    ASSERT_EQ(value, std::ldexp(static_cast<float>(generator() >> 40), -24));
    ASSERT_GE(value, 0.0F);
    ASSERT_LT(value, 1.0F);
  }
}

TEST(Argument, that_its_type_cannot_hold_is_refused) {
  EXPECT_THAT(error_of("u8=256"), HasSubstr("'256' is no whole number from 0 to 255"));
  EXPECT_THAT(error_of("u32=-1"), HasSubstr("'-1' is no whole number from 0 to 4294967295"));
  EXPECT_THAT(error_of("i32=1.5"), HasSubstr("'1.5' is no whole number"));
  EXPECT_THAT(error_of("u8[3]=1,2"), HasSubstr("'1,2' are 2 numbers for 3 elements"));
  EXPECT_THAT(error_of("u8[2]=1,"), HasSubstr("'' is no whole number"));
  EXPECT_THAT(error_of("f32=much"), HasSubstr("'much' is no number"));
  EXPECT_THAT(error_of("f32[4]=nothing.npy"), HasSubstr("cannot read nothing.npy"));
  EXPECT_THAT(error_of("f64[99999999999,99999999999]"), HasSubstr("more than any memory holds"));
}

// Every half is a float; and what lies between two of them goes to the nearer one, or to the even one.
TEST(Half, is_the_nearest_to_a_float) {
  for (std::uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float value = float_of(half);
    ASSERT_EQ(half_of(value).bits, bits);
    ASSERT_EQ(half_of(-value).bits, bits | 0x8000);
    const float next = bits == 0x7bff ? 65536.0F : float_of(Half{static_cast<std::uint16_t>(bits + 1)});
    const float middle = (value + next) / 2;
    ASSERT_EQ(half_of(middle).bits, bits + bits % 2);
    ASSERT_EQ(half_of(std::nextafter(middle, 0.0F)).bits, bits);
    ASSERT_EQ(half_of(std::nextafter(middle, 1e9F)).bits, bits + 1);
  }
  EXPECT_EQ(float_of(Half{0x3c00}), 1.0F);
  EXPECT_EQ(float_of(Half{0x0001}), std::ldexp(1.0F, -24));
  EXPECT_EQ(half_of(1e9F).bits, 0x7c00);
  EXPECT_EQ(half_of(-INFINITY).bits, 0xfc00);
  EXPECT_TRUE(std::isnan(float_of(half_of(NAN))));
}

}  // namespace
