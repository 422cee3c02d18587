// Image instructions with a sampler: samples and gathers.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "image_model.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::image {
namespace {

constexpr unsigned first_result = 12;

struct SampleForm {
  std::string parts;  ///< behind image_sample or image_gather4
  bool gathers = false;
  bool is_half = false;
  u32 mask = 15;
};

/// Coordinates of whole 256ths of a texel of the last level, from outside to outside of the image.
void aim_sample(MachineState& state, const Image& image, const Sampler& sampler, unsigned first, Random& random) {
  const u32 coarse = 1U << (image.levels - 1);
  for (unsigned axis = 0; axis < image.axes(); ++axis)
    for (u32& coordinate : state.vector.at(first + axis)) {
      const auto size = static_cast<float>(image.size(axis, 0));
      const auto fractions = static_cast<i64>(random() % (4 * 256 * image.size(axis, 0) / coarse)) * coarse;
      float texels = static_cast<float>(fractions) / 256 - 1.5F * size;
      if (!sampler.is_unnormalized) texels /= size;  // a power of two
      coordinate = static_cast<u32>(to_bits(texels));
    }
  if (image.is_array())
    for (u32& slice : state.vector.at(first + image.axes()))
      slice = static_cast<u32>(to_bits(static_cast<float>(random() % 40) / 8 - 1));
}

/// Lanes 1 and 2 of each four differ from lane 0 by powers of two: the one along x, the other along y.
void aim_quads(MachineState& state, const Image& image, unsigned first, Random& random) {
  for (unsigned lane = 0; lane < lane_count; ++lane)
    for (unsigned axis = 0; axis < 2; ++axis) {
      u32& coordinate = state.vector.at(first + axis).at(lane);
      if (lane % 4 == 1 || lane % 4 == 2) coordinate = state.vector.at(first + axis).at(lane / 4 * 4);
      if (lane % 4 != axis + 1) continue;
      const float texels = std::ldexp(1.0F, static_cast<int>(random() % 6) - 2);
      const float moved = from_bits<float>(coordinate) + texels / static_cast<float>(image.size(axis, 0));
      coordinate = static_cast<u32>(to_bits(moved));
    }
}

void put_numbers(MachineState& state, const Image& image, Random& random) {
  if (image.format.number != Number::floating) return;
  for (std::size_t at = 0; at + 4 <= memory_bytes; at += 4)
    write_as(state.memory.data() + at, static_cast<float>(static_cast<i64>(random() % 129) - 64) / 64);
}

Case sample_case(const Image& image, const Sampler& sampler, const SampleForm& form) {
  const auto has = [&](const char* part) {
    return (form.parts + "_").find(std::string(part) + "_") != std::string::npos;
  };
  const bool has_offset = has("_o");
  const bool has_bias = has("_b");
  const bool compares = has("_c");
  const bool has_gradients = has("_d");
  const bool has_level = has("_l");
  const bool takes_quads = !has_level && !has_gradients && !has("_lz") && image.levels > 1;
  unsigned next = (has_offset ? 1 : 0) + (has_bias ? 1 : 0) + (compares ? 1 : 0);
  const unsigned first_gradient = next;
  if (has_gradients) next += 2 * image.axes();
  const unsigned first = next;
  next += coordinate_count(image.kind);
  const unsigned addresses = next + (has_level ? 1 : 0);
  const auto rows = form.gathers ? 4U : static_cast<unsigned>(std::popcount(form.mask));
  const std::string text = std::string(form.gathers ? "image_gather4" : "image_sample") + form.parts + " " +
                           tuple(first_result, rows) + ", " + address_text(0, addresses) +
                           ", s[4:11], s[12:15] dmask:" + std::to_string(form.mask) + dimension_text(image.kind);
  Case made{.assembly = text, .prepare = {}, .reference = {}};
  made.prepare = [=](MachineState& state, Random& random) {
    put_descriptors(state, image, sampler);
    put_numbers(state, image, random);
    aim_sample(state, image, sampler, first, random);
    if (takes_quads) aim_quads(state, image, first, random);
    for (unsigned lane = 0; lane < lane_count; ++lane) {
      unsigned at = 0;
      if (has_offset) state.vector.at(at++).at(lane) = static_cast<u32>(random() & 0x3f3f3f);
      if (has_bias)
        state.vector.at(at++).at(lane) = static_cast<u32>(to_bits(static_cast<float>(random() % 64) / 16 - 1));
      if (compares) state.vector.at(at++).at(lane) = static_cast<u32>(to_bits(static_cast<float>(random() % 65) / 64));
      if (has_gradients)  // along x in one direction, along y in the other: powers of two
        for (unsigned n = 0; n < 2 * image.axes(); ++n) {
          const float change = n % (image.axes() + 1) == 0 ? std::ldexp(1.0F, static_cast<int>(random() % 5) - 4) : 0;
          state.vector.at(first_gradient + n).at(lane) = static_cast<u32>(to_bits(change));
        }
      if (has_level)
        state.vector.at(next).at(lane) = static_cast<u32>(to_bits(static_cast<float>(random() % 80) / 16 - 1));
    }
  };
  made.reference = [=](MachineState& state) {
    const MachineState before = state;
    for (unsigned lane = 0; lane < tested_target().wavefront_size; ++lane) {
      if (!before.active(lane)) continue;
      const auto number = [&](unsigned vgpr) -> double { return from_bits<float>(before.vector.at(vgpr).at(lane)); };
      Sample sample{.compares = compares};
      unsigned at = 0;
      if (has_offset) {
        const u32 packed = before.vector.at(at++).at(lane);
        for (unsigned axis = 0; axis < 3; ++axis) {
          const int bits = static_cast<int>(packed >> 8 * axis & 63);
          sample.offsets.at(axis) = bits < 32 ? bits : bits - 64;
        }
      }
      if (has_bias) sample.level += number(at++);
      if (compares) sample.reference = number(at++);
      for (unsigned axis = 0; axis < image.axes(); ++axis) sample.coordinates.at(axis) = number(first + axis);
      if (image.is_array()) sample.slice = number(first + image.axes());
      if (has_level) sample.level = number(next);
      if (has_gradients) {
        double longest = 0;
        for (unsigned n = 0; n < 2 * image.axes(); ++n) {
          const double size = sampler.is_unnormalized ? 1 : image.size(n % image.axes(), 0);
          longest = std::max(longest, number(first_gradient + n) * size);
        }
        sample.level = std::log2(longest);
      }
      if (takes_quads) {
        double longest = 0;
        for (unsigned axis = 0; axis < 2; ++axis) {
          const auto at_lane = [&](unsigned of_quad) -> double {
            return from_bits<float>(before.vector.at(first + axis).at(lane / 4 * 4 + of_quad));
          };
          longest = std::max(longest, (at_lane(axis + 1) - at_lane(0)) * image.size(axis, 0));
        }
        sample.level += std::log2(longest);
      }
      const auto values = form.gathers ? gathered(state, image, sampler, sample, std::countr_zero(form.mask))
                                       : sampled(state, image, sampler, sample);
      unsigned row = 0;
      for (unsigned c = 0; c < 4; ++c)
        if (form.gathers || (form.mask >> c & 1) != 0)
          state.vector.at(first_result + row++).at(lane) = static_cast<u32>(to_bits(static_cast<float>(values.at(c))));
    }
  };
  for (unsigned row = 0; row < rows; ++row)
    made.float_results.push_back({first_result + row, Type::float32, {.ulp = 4, .absolute = 1e-6}});
  return made;
}

std::vector<Image> sampled_images(const std::string& format) {
  return {image_of(Kind::one, 32, 1, 1, format), image_of(Kind::two, 8, 16, 1, format),
          image_of(Kind::three, 4, 8, 2, format), image_of(Kind::one_array, 8, 1, 3, format),
          image_of(Kind::two_array, 8, 4, 3, format)};
}

TEST(LaterImageSamples, AddressAndFilterAsOpenCLDefines) {
  if (!has_images()) return;
  std::vector<Case> cases;
  for (const char* format : {"32_32_32_32 FLOAT", "8_8_8_8 UNORM", "16_16 SNORM"})
    for (Image image : sampled_images(format)) {
      if (image.format.bytes() == 16 && image.kind == Kind::two) image.height = 8;
      for (u32 clamp = 0; clamp < 8; ++clamp)
        for (const bool is_linear : {false, true})
          for (const bool is_unnormalized : {false, true})
            cases.push_back(sample_case(image,
                                        {.clamp = {clamp, (clamp + 3) % 8, (clamp + 5) % 8},
                                         .is_unnormalized = is_unnormalized,
                                         .is_linear = is_linear,
                                         .border = clamp % 3},
                                        {.parts = tests_gfx90a() ? "" : "_lz"}));
    }
  expect_image_match(cases, {.states = 1});
}

TEST(LaterImageSamples, ChooseLevels) {
  if (!has_images()) return;
  Image image = image_of(Kind::two, 16, 16, 1, "32 FLOAT");
  image.levels = 4;
  Image view = image;
  view.base_level = 1;
  std::vector<Case> cases;
  for (const Image& each : {image, view})
    for (const u32 mip_filter : {0U, 1U, 2U})
      for (const char* parts : {"_l", "_l_o", "_d", "_d_o", "_lz", "_lz_o"}) {
        Sampler sampler{.is_linear = true, .mip_filter = mip_filter};
        cases.push_back(sample_case(each, sampler, {.parts = parts, .mask = 1}));
        sampler.bias = -0.75;
        sampler.least_level = 0.5;
        sampler.greatest_level = 1.625;
        cases.push_back(sample_case(each, sampler, {.parts = parts, .mask = 9}));
      }
  expect_image_match(cases, {.states = 1});
}

TEST(LaterImageSamples, TakeLevelsFromGroupsOfFourLanes) {
  if (!has_images()) return;
  Image image = image_of(Kind::two, 16, 16, 1, "32 FLOAT");
  image.levels = 4;
  std::vector<Case> cases;
  for (const u32 mip_filter : {1U, 2U})
    for (const char* parts : {"", "_b", "_o", "_b_o"})
      cases.push_back(sample_case(image, {.is_linear = true, .mip_filter = mip_filter}, {.parts = parts, .mask = 1}));
  expect_image_match(cases, {.states = 1});
}

TEST(LaterImageSamples, CompareDepths) {
  if (!has_images()) return;
  std::vector<Case> cases;
  for (u32 compare = 0; compare < 8; ++compare)
    for (const bool is_linear : {false, true}) {
      const Sampler sampler{.is_linear = is_linear, .compare = compare};
      const Image image = image_of(Kind::two, 8, 16, 1, "32 FLOAT");
      cases.push_back(sample_case(image, sampler, {.parts = "_c_lz", .mask = 1}));
      cases.push_back(sample_case(image, sampler, {.parts = "_c_lz_o", .mask = 1}));
      cases.push_back(sample_case(image, sampler, {.parts = "_c_lz", .gathers = true, .mask = 1}));
    }
  expect_image_match(cases, {.states = 1});
}

TEST(LaterImageGathers, GiveTheTexelsOfALinearFilter) {
  if (!has_images()) return;
  std::vector<Case> cases;
  for (const Kind kind : {Kind::two, Kind::two_array})
    for (u32 clamp = 0; clamp < 8; ++clamp)
      for (const u32 mask : {1U, 4U, 8U})
        for (const char* parts : {"_lz", "_lz_o"})
          cases.push_back(sample_case(image_of(kind, 8, 4, kind == Kind::two ? 1 : 3, "8_8_8_8 UNORM"),
                                      {.clamp = {clamp, clamp, clamp}, .border = 2},
                                      {.parts = parts, .gathers = true, .mask = mask}));
  expect_image_match(cases, {.states = 1});
}

}  // namespace
}  // namespace softgpu::isa::image
