#include "dispatch/code_object/demangle.hpp"

#include <array>
#include <string>
#include <typeinfo>

#include <gtest/gtest.h>

namespace fastdispatch::detail {
namespace {

std::string name_of(const std::string& mangled) {
  const auto source = source_name(mangled);
  return source ? source->name : "not understood";
}

struct Point {};

TEST(SourceName, is_what_the_author_wrote) {
  EXPECT_EQ(name_of("_Z5scalePf"), "scale");
  EXPECT_EQ(name_of("_Z5clearIfEvPT_"), "clear<float>");
  EXPECT_EQ(name_of("_ZN6filter4blurEPfi"), "filter::blur");
  EXPECT_EQ(name_of("_ZN12_GLOBAL__N_14blurEPfi"), "(anonymous namespace)::blur");
  EXPECT_EQ(name_of("_Z3runPFviE"), "run");
  EXPECT_EQ(source_name("_ZN6filter5clearIfLi3EEEvPT_")->template_name, "filter::clear");
}

TEST(SourceName, has_the_parameters_with_what_they_are_short_for) {
  EXPECT_EQ(demangle("_Z4sortPjjf"), "sort(unsigned int*, unsigned int, float)");
  EXPECT_EQ(demangle("_Z4stopv"), "stop()");
  EXPECT_EQ(demangle("_Z5clearIKfEvPT_"), "clear<float const>(float const*)");
  EXPECT_EQ(demangle("_ZN2ns4fillI5ColorLj3ELb1EEEvPT_S2_"), "ns::fill<Color, 3u, true>(Color*, Color)");
  EXPECT_EQ(demangle("_Z3mixP15HIP_vector_typeIfLj4EEPKS0_"),
            "mix(HIP_vector_type<float, 4u>*, HIP_vector_type<float, 4u> const*)");
  EXPECT_EQ(demangle("_Z3allIJifEEvDpPKT_"), "all<int, float>(int const*, float const*)");
  EXPECT_EQ(demangle("_Z3allIJEEvDpT_"), "all<>()");
  EXPECT_EQ(demangle("_Z5applyPFvifEPA4_A3_fRA2_Kd"),
            "apply(void (*)(int, float), float (*) [4] [3], double const (&) [2])");
  EXPECT_EQ(demangle("_Z4loadPU3AS1KfDv4_fPDF16_"), "load(float const AS1*, float __vector(4), _Float16*)");
  EXPECT_EQ(demangle("_Z5visitIZ4mainEUliE_EvT_Pi"), "visit<main::{lambda(int)#1}>(main::{lambda(int)#1}, int*)");
  EXPECT_EQ(demangle("_Z5visitIZ3runvEUliE_EvT_Pi"), "visit<run()::{lambda(int)#1}>(run()::{lambda(int)#1}, int*)");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_14blurEPfi.static.12ab"),
            "(anonymous namespace)::blur(float*, int) [clone .static.12ab]");
}

TEST(SourceName, of_what_is_not_understood_stays_mangled) {
  for (const char* name :
       {"add", "_Z", "_Z3", "_Z9short", "_Z4sort", "_Z4sortPjjx?", "_ZN4sortE", "_Z4sortT_", "_Z4sortS_",
        "_Z1fIXplLi1ELi2EEEvv", "_Z99999999999999999999fv", "_ZSt", "_ZNE", "_Z1fDpi", "_Z1fIiEvT7_"}) {
    EXPECT_EQ(demangle(name), name);
  }
}

TEST(SourceType, is_the_hosts_name_of_a_type) {
  const auto text = [](const std::type_info& type) { return source_type(type.name())->text; };
  EXPECT_EQ(text(typeid(const unsigned*)), "unsigned int const*");
  EXPECT_EQ(text(typeid(float* const*)), "float* const*");
  EXPECT_EQ(text(typeid(Point)), "fastdispatch::detail::(anonymous namespace)::Point");
  EXPECT_EQ(text(typeid(std::array<double, 2>)), "std::array<double, 2ul>");
  EXPECT_EQ(source_type("PKf")->text_const_left, "const float*");
}

TEST(SourceType, tells_what_is_behind_its_pointers) {
  const SourceType type = *source_type("PKPt");
  EXPECT_EQ(type.pointers, 2U);
  EXPECT_TRUE(type.points_to_const);
  EXPECT_EQ(type.type_class, TypeClass::integer);
  EXPECT_EQ(type.bytes, 2U);
  EXPECT_FALSE(source_type("PPKt")->points_to_const);
  EXPECT_TRUE(source_type("PA4_Kf")->points_to_const);
  EXPECT_EQ(source_type("5Point")->type_class, TypeClass::unknown);
}

// Each step doubles what stands for the step before: "P" with two arguments that are the last step.
std::string doubling_name(std::size_t steps) {
  std::string name = "_Z1f1aIiiE";
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (std::size_t i = 0; i < steps; ++i) {
    const std::string last = std::string("S") + digits[i] + "_";
    name += "S_I" + last + last + "E";
  }
  return name;
}

TEST(SourceName, that_would_be_endless_is_not_understood) {
  EXPECT_NE(demangle(doubling_name(1)), doubling_name(1));
  EXPECT_EQ(demangle(doubling_name(35)), doubling_name(35));
}

TEST(SourceName, that_is_deep_or_long_is_not_understood) {
  for (const std::string_view part : {"P", "K", "F", "1aI", "N1aI", "A1_", "Dp", "Z1f", "U1a", "UlPFi", "IJ", "Dv2_"}) {
    std::string name = "_Z1f";
    for (int i = 0; i < 2000; ++i) name += part;
    EXPECT_EQ(demangle(name), name) << part;
  }
  const std::string long_name = "_Z1f" + std::string(1U << 20U, 'i');
  EXPECT_EQ(demangle(long_name), long_name);
}

TEST(SourceName, that_is_deep_by_what_it_repeats_is_not_understood) {
  const auto chain = [](std::size_t length) {  // each parameter is a pointer to the one before
    constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    std::string name = "_Z1fPiPS_";
    for (std::size_t i = 0; i < length; ++i)
      name += std::string("PS") + (i < 36 ? "" : std::string(1, digits[i / 36])) + digits[i % 36] + "_";
    return name;
  };
  EXPECT_NE(demangle(chain(30)), chain(30));
  EXPECT_EQ(demangle(chain(1000)), chain(1000));
}

TEST(SourceName, survives_every_damage_of_one_byte) {
  const std::string name = "_ZN2ns4fillIJPKZ3runvEUlT_E_5ColorELj3EA2_DF16_EEvDpPT_S0_PU3AS1fDv4_fPFviE.static.1f";
  EXPECT_NE(demangle(name), name);
  for (std::size_t i = 0; i < name.size(); ++i) {
    for (int c = 0; c < 256; ++c) {
      std::string damaged = name;
      damaged[i] = static_cast<char>(c);
      static_cast<void>(demangle(damaged));
    }
    static_cast<void>(demangle(name.substr(0, i)));
  }
}

}  // namespace
}  // namespace fastdispatch::detail
