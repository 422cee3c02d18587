#include "dispatch/code_object/target_id.hpp"

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

}  // namespace
}  // namespace fastdispatch::detail
