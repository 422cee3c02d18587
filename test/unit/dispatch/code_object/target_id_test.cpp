#include "dispatch/code_object/target_id.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace fastdispatch::detail {
namespace {

constexpr TargetFeature any = TargetFeature::any;
constexpr TargetFeature off = TargetFeature::off;
constexpr TargetFeature on = TargetFeature::on;

TEST(TargetId, is_found_in_isa_names_and_in_every_kind_of_bundle_entry) {
  const TargetId expected{.processor = "gfx90a", .sramecc = on, .xnack = off};
  for (const char* text :
       {"gfx90a:sramecc+:xnack-", "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-",
        "hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "hip-amdgcn-amd-amdhsa-gfx90a:sramecc+:xnack-",
        "openmp-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-", "hipv4-amdgcn-amd-amdhsa-unknown-gfx90a:xnack-:sramecc+"}) {
    EXPECT_EQ(parse_target_id(text), expected) << text;
  }
}

TEST(TargetId, keeps_the_whole_name_of_generic_processors) {
  EXPECT_EQ(parse_target_id("hipv4-amdgcn-amd-amdhsa--gfx9-4-generic:xnack+"),
            (TargetId{.processor = "gfx9-4-generic", .sramecc = any, .xnack = on}));
}

TEST(TargetId, is_none_where_nothing_of_amds_hsa_is_named) {
  for (const char* text :
       {"", "host-x86_64-unknown-linux", "hip-spirv64-amd-amdhsa--amdgcnspirv", "amdgcn-amd-amdpal--gfx90a",
        "amdgcn-amd-amdhsa-", "gfx90a:", "gfx90a:wavefrontsize64+", "gfx90a:xnack", "gfx90a:xnack="}) {
    EXPECT_EQ(parse_target_id(text), std::nullopt) << text;
  }
}

TEST(TargetId, reads_back_what_it_prints) {
  for (const TargetFeature sramecc : {any, off, on}) {
    for (const TargetFeature xnack : {any, off, on}) {
      const TargetId target{.processor = "gfx942", .sramecc = sramecc, .xnack = xnack};
      EXPECT_EQ(parse_target_id(to_string(target)), target) << to_string(target);
    }
  }
}

TEST(TargetId, of_version3_flags_has_one_bit_a_feature) {
  constexpr std::uint8_t v3 = 1;
  EXPECT_EQ(to_string(target_id_of_elf(v3, 0x03f).value()), "gfx90a:sramecc-:xnack-");
  EXPECT_EQ(to_string(target_id_of_elf(v3, 0x13f).value()), "gfx90a:sramecc-:xnack+");
  EXPECT_EQ(to_string(target_id_of_elf(v3, 0x23f).value()), "gfx90a:sramecc+:xnack-");
}

TEST(TargetId, of_version4_and_later_flags_has_two_bits_a_feature) {
  for (const std::uint8_t version : {2, 3, 4}) {
    EXPECT_EQ(to_string(target_id_of_elf(version, 0x53f).value()), "gfx90a");
    EXPECT_EQ(to_string(target_id_of_elf(version, 0xa3f).value()), "gfx90a:sramecc-:xnack-");
    EXPECT_EQ(to_string(target_id_of_elf(version, 0xf3f).value()), "gfx90a:sramecc+:xnack+");
    EXPECT_EQ(to_string(target_id_of_elf(version, 0x036).value()), "gfx1030");
  }
}

TEST(TargetId, of_flags_with_an_unknown_processor_is_none) { EXPECT_EQ(target_id_of_elf(2, 0x5fe), std::nullopt); }

// Rows: what the code was compiled for; columns: the device has the feature off, on, or not at all.
struct Row {
  TargetFeature code;
  bool on_off, on_on, on_without;
};
constexpr Row table[] = {{any, true, true, true}, {off, true, false, true}, {on, false, true, false}};

TEST(TargetId, runs_where_both_features_fit) {
  const auto column = [](const Row& row, TargetFeature device) {
    return device == off ? row.on_off : device == on ? row.on_on : row.on_without;
  };
  for (const Row& sramecc : table) {
    for (const Row& xnack : table) {
      for (const TargetFeature device_sramecc : {off, on, any}) {
        for (const TargetFeature device_xnack : {off, on, any}) {
          const TargetId code{.processor = "gfx90a", .sramecc = sramecc.code, .xnack = xnack.code};
          const TargetId device{.processor = "gfx90a", .sramecc = device_sramecc, .xnack = device_xnack};
          EXPECT_EQ(runs_on(code, device), column(sramecc, device_sramecc) && column(xnack, device_xnack))
              << to_string(code) << " on " << to_string(device);
        }
      }
    }
  }
}

TEST(TargetId, does_not_run_on_another_processor) {
  EXPECT_FALSE(runs_on({.processor = "gfx90a"}, {.processor = "gfx90c"}));
  EXPECT_FALSE(runs_on({.processor = "gfx90"}, {.processor = "gfx90a"}));
}

// Every generic processor with what runs its code, and a neighbour that does not.
TEST(TargetId, of_generic_code_runs_on_the_processors_of_the_guides_table) {
  const auto runs = [](const char* generic, const std::string& processor) {
    return runs_on({.processor = generic}, {.processor = processor, .sramecc = off, .xnack = off});
  };
  const std::pair<const char*, std::vector<const char*>> families[] = {
      {"gfx9-generic", {"gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"}},
      {"gfx9-4-generic", {"gfx940", "gfx941", "gfx942", "gfx950"}},
      {"gfx10-1-generic", {"gfx1010", "gfx1011", "gfx1012", "gfx1013"}},
      {"gfx10-3-generic", {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"}},
      {"gfx11-generic", {"gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"}},
      {"gfx12-generic", {"gfx1200", "gfx1201"}},
  };
  std::size_t pairs = 0;
  for (const auto& [generic, processors] : families) {
    for (const auto& [other, others] : families) {
      for (const char* processor : others)
        EXPECT_EQ(runs(generic, processor), std::string_view(generic) == other) << generic << " on " << processor;
    }
    pairs += processors.size();
    EXPECT_TRUE(std::ranges::equal(processors_of_generic(generic), processors)) << generic;
    for (const char* never : {"gfx90a", "gfx908", "gfx803", "gfx103", ""})
      EXPECT_FALSE(runs(generic, never)) << generic;
  }
  EXPECT_EQ(pairs, 31U);
  EXPECT_TRUE(processors_of_generic("gfx1030").empty());
  EXPECT_TRUE(processors_of_generic("gfx13-generic").empty());
}

TEST(TargetId, of_generic_code_has_features_like_any_other) {
  const TargetId device{.processor = "gfx942", .sramecc = on, .xnack = off};
  EXPECT_TRUE(runs_on({.processor = "gfx9-4-generic", .sramecc = on}, device));
  EXPECT_FALSE(runs_on({.processor = "gfx9-4-generic", .sramecc = off}, device));
  EXPECT_FALSE(runs_on({.processor = "gfx9-4-generic", .xnack = on}, device));
}

TEST(TargetId, of_the_processor_is_more_specific_than_generic_code_with_all_features) {
  EXPECT_GT(specificity({.processor = "gfx942"}),
            specificity({.processor = "gfx9-4-generic", .sramecc = on, .xnack = off}));
  EXPECT_GT(specificity({.processor = "gfx9-4-generic", .xnack = off}), specificity({.processor = "gfx9-4-generic"}));
}

TEST(TargetId, of_version6_flags_has_a_generic_version) {
  constexpr std::uint8_t v6 = 4;
  EXPECT_EQ(to_string(target_id_of_elf(v6, 0x0100055f).value()), "gfx9-4-generic");
  EXPECT_EQ(generic_version_of_elf(v6, 0x0100055f), 1U);
  EXPECT_EQ(generic_version_of_elf(v6, 0xff000053), 255U);
  EXPECT_EQ(generic_version_of_elf(v6, 0x00000036), 0U);
  EXPECT_EQ(generic_version_of_elf(3, 0x01000053), 0U);
}

}  // namespace
}  // namespace fastdispatch::detail
