#include "image_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include <gtest/gtest.h>

#include "assembler.hpp"
#include "tested_target.hpp"

namespace softgpu::isa::image {
namespace {

template <std::size_t dwords>
void put(std::array<u32, dwords>& words, unsigned first, unsigned count, u64 value) {
  for (unsigned bit = 0; bit < count; ++bit)
    words.at((first + bit) / 32) |= static_cast<u32>(value >> bit & 1) << (first + bit) % 32;
}

bool is_rdna2() { return tested_target().architecture->major == 10; }

/// Where the parts of a descriptor begin that are not everywhere in the same place, and how long they are.
struct DescriptorFields {
  using Field = std::pair<unsigned, unsigned>;
  Field format, base_level, last_level, greatest_level, width, height, depth, pitch, first_slice;
};
DescriptorFields fields() {
  if (tests_gfx90a())
    return {.format = {52, 10},
            .base_level = {108, 4},
            .last_level = {112, 4},
            .greatest_level = {188, 4},
            .width = {64, 14},
            .height = {78, 14},
            .depth = {128, 13},
            .pitch = {141, 16},
            .first_slice = {160, 13}};
  if (tests_rdna4())
    return {.format = {49, 8},
            .base_level = {57, 5},
            .last_level = {111, 5},
            .greatest_level = {44, 5},
            .width = {62, 16},
            .height = {78, 16},
            .depth = {128, 14},
            .pitch = {128, 16},
            .first_slice = {144, 14}};
  return {.format = {52, is_rdna2() ? 9 : 8},
          .base_level = {108, 4},
          .last_level = {112, 4},
          .greatest_level = {is_rdna2() ? 164 : 48, 4},
          .width = {62, 14},
          .height = {78, 14},
          .depth = {128, 13},
          .pitch = {128, 14},
          .first_slice = {144, 13}};
}

/// The rows of the manuals' tables, whose formats are numbered from 1 on.
struct Row {
  const char* data;
  std::vector<const char*> numbers;
};
std::vector<Row> rows() {
  const std::vector<const char*> integers_and_scaled = {"UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT"};
  std::vector<const char*> all = integers_and_scaled;
  all.push_back("FLOAT");
  const std::vector<const char*> dwords = {"UINT", "SINT", "FLOAT"};
  const std::vector<const char*> some = {"UNORM", "SNORM", "UINT", "SINT"};
  const std::vector<const char*> real = {"FLOAT"};
  const bool early = is_rdna2() || tests_gfx90a();
  return {{"8", integers_and_scaled},
          {"16", all},
          {"8_8", integers_and_scaled},
          {"32", dwords},
          {"16_16", all},
          {"10_11_11", early ? all : real},
          {"11_11_10", early ? all : real},
          {"10_10_10_2", early ? integers_and_scaled : some},
          {"2_10_10_10", integers_and_scaled},
          {"8_8_8_8", integers_and_scaled},
          {"32_32", dwords},
          {"16_16_16_16", all},
          {"32_32_32", dwords},
          {"32_32_32_32", dwords}};
}

u32 gfx9_number(std::string_view name) {
  constexpr std::array<std::string_view, 8> names = {"UNORM", "SNORM", "USCALED", "SSCALED",
                                                     "UINT",  "SINT",  "",        "FLOAT"};
  return static_cast<u32>(std::ranges::find(names, name) - names.begin());
}

/// A texel's number on an axis, or -1: the border.
i64 addressed(i64 i, i64 size, u32 clamp, bool is_linear) {
  enum : u32 { wrap, mirror, last_texel, once_last_texel, half_border, once_half_border, border, once_border };
  if (clamp == wrap) return ((i % size) + size) % size;
  if (clamp == mirror) {
    i = ((i % (2 * size)) + 2 * size) % (2 * size);
    return i < size ? i : 2 * size - 1 - i;
  }
  const bool is_once = clamp == once_last_texel || clamp == once_half_border || clamp == once_border;
  if (is_once && i < 0) i = -1 - i;
  const bool has_border =
      clamp == border || clamp == once_border || (is_linear && (clamp == half_border || clamp == once_half_border));
  if (has_border && (i < 0 || i >= size)) return -1;
  return std::clamp<i64>(i, 0, size - 1);
}

double number_of(u32 bits) { return from_bits<float>(bits); }

std::array<double, 4> texel_value(MachineState& state, const Image& image, const Sampler& sampler, u32 level,
                                  const std::array<i64, 3>& place) {
  std::array<double, 4> result{};
  const bool is_border = std::ranges::any_of(place, [](i64 at) { return at < 0; });
  for (unsigned c = 0; c < 4; ++c) {
    const u32 selected = image.selection.at(c);
    if (selected < 4) {
      result.at(c) = selected;
    } else if (is_border) {
      result.at(c) = sampler.border == 2 || (sampler.border == 1 && c == 3) ? 1 : 0;
    } else {
      const i64 offset = image.offset(level, place);
      if (offset < 0) throw std::logic_error("a place outside of the image");
      result.at(c) = number_of(image.format.load(texel(state, image, offset), selected - 4, false));
    }
  }
  return result;
}

/// Two texels on each axis, and the second one's weight.
struct Ends {
  std::array<std::array<i64, 2>, 3> index = {};
  std::array<double, 3> weight = {};
};

Ends ends_of(const Image& image, const Sampler& sampler, const Sample& sample, u32 level, bool is_linear) {
  Ends ends;
  for (unsigned axis = 0; axis < image.axes(); ++axis) {
    const i64 size = image.size(axis, level);
    double u = sample.coordinates.at(axis);
    if (!sampler.is_unnormalized) u *= static_cast<double>(size);
    u += sample.offsets.at(axis);
    const u32 clamp = sampler.clamp.at(axis);
    if (is_linear && (clamp == 4 || clamp == 5))  // half a border at most
      u = std::clamp(u, clamp == 4 ? 0.0 : -static_cast<double>(size), static_cast<double>(size));
    if (is_linear) u -= 0.5;
    const auto first = static_cast<i64>(std::floor(u));
    ends.weight.at(axis) = is_linear ? u - static_cast<double>(first) : 0;
    for (unsigned end = 0; end < 2; ++end) ends.index.at(axis).at(end) = addressed(first + end, size, clamp, is_linear);
  }
  if (image.is_array()) {
    const auto last = static_cast<double>(image.depth - image.first_slice - 1);
    ends.index[2].fill(static_cast<i64>(std::clamp(std::nearbyint(sample.slice), 0.0, last)));
  }
  return ends;
}

double compared(const Sampler& sampler, double reference, double depth) {
  const std::array<bool, 8> results = {false, reference<depth, reference == depth, reference <= depth, reference> depth,
                                       reference != depth, reference >= depth, true};
  return results.at(sampler.compare) ? 1 : 0;
}

std::array<double, 4> at_level(MachineState& state, const Image& image, const Sampler& sampler, const Sample& sample,
                               u32 level) {
  const Ends ends = ends_of(image, sampler, sample, level, sampler.is_linear);
  std::array<double, 4> sum{};
  for (unsigned corner = 0; corner < 8; ++corner) {
    double weight = 1;
    std::array<i64, 3> place{};
    for (unsigned axis = 0; axis < 3; ++axis) {
      const unsigned end = corner >> axis & 1;
      weight *= end == 1 ? ends.weight.at(axis) : 1 - ends.weight.at(axis);
      place.at(axis) = ends.index.at(axis).at(end);
    }
    if (weight == 0) continue;
    auto value = texel_value(state, image, sampler, level, place);
    if (sample.compares) value[0] = compared(sampler, sample.reference, value[0]);
    for (unsigned c = 0; c < 4; ++c) sum.at(c) += weight * value.at(c);
  }
  return sum;
}

double clamped_level(const Image& image, const Sampler& sampler, const Sample& sample) {
  const double level = std::clamp(sample.level + sampler.bias, sampler.least_level, sampler.greatest_level);
  return std::clamp(level, 0.0, static_cast<double>(image.levels - image.base_level - 1));
}

}  // namespace

unsigned Image::axes() const {
  if (kind == Kind::one || kind == Kind::one_array) return 1;
  return kind == Kind::three ? 3 : 2;
}

u32 Image::size(unsigned axis, u32 level) const {
  const std::array<u32, 3> sizes = {width, height, depth};
  if (axis == 2 && is_array()) return depth - first_slice;
  return std::max(sizes.at(axis) >> (level + base_level), 1U);
}

std::array<u32, 8> Image::descriptor(u64 base) const {
  std::array<u32, 8> words{};
  const auto put_field = [&](DescriptorFields::Field field, u64 value) {
    put(words, field.first, field.second, value);
  };
  const DescriptorFields at = fields();
  put(words, 0, 40, base >> 8);
  put_field(at.format, format_number);
  put_field(at.width, width - 1);
  put_field(at.height, height - 1);
  for (unsigned c = 0; c < 4; ++c) put(words, 96 + 3 * c, 3, selection.at(c));
  put_field(at.base_level, base_level);
  put_field(at.last_level, levels - 1);
  put(words, 116, 5, is_linear ? 0 : 9);
  put(words, 124, 4, 8 + static_cast<u32>(kind));
  if (kind == Kind::three || is_array()) put_field(at.depth, depth - 1);
  if (tests_gfx90a())
    put_field(at.pitch, (pitch != 0 ? pitch : (width * format.bytes() + 255) / 256 * 256 / format.bytes()) - 1);
  else if (kind != Kind::three && !is_array() && pitch != 0)
    put_field(at.pitch, pitch - 1);
  put_field(at.first_slice, first_slice);
  put_field(at.greatest_level, levels - 1);
  if (is_rdna2()) put(words, 95, 1, 1);  // RESOURCE_LEVEL
  return words;
}

i64 Image::offset(u32 level, const std::array<i64, 3>& place) const {
  if (level + base_level >= levels) return -1;
  for (unsigned axis = 0; axis < 3; ++axis) {
    const bool is_used = axis < axes() || (axis == 2 && is_array());
    if (is_used && (place.at(axis) < 0 || place.at(axis) >= size(axis, level))) return -1;
  }
  const u32 bytes = format.bytes();
  const i64 y = axes() > 1 ? place[1] : 0;
  const i64 z = axes() > 2 || is_array() ? place[2] + first_slice : 0;
  if (is_linear) {
    const u32 padded = (width * bytes + 255) / 256 * 256;
    const u32 row = pitch != 0 ? pitch * bytes : tests_rdna4() ? (width * bytes + 127) / 128 * 128 : padded;
    return z * height * padded + y * row + place[0] * bytes;
  }
  i64 slice = 0;
  i64 before = 0;
  for (u32 each = 0; each < levels; ++each) {
    if (each == level + base_level) before = slice;
    slice += i64{std::max(width >> each, 1U)} * std::max(height >> each, 1U);
  }
  return (z * slice + before + y * size(0, level) + place[0]) * bytes;
}

std::array<u32, 4> Sampler::descriptor() const {
  std::array<u32, 4> words{};
  for (unsigned axis = 0; axis < 3; ++axis) put(words, 3 * axis, 3, clamp.at(axis));
  put(words, 12, 3, compare);
  put(words, 15, 1, is_unnormalized ? 1 : 0);
  const unsigned level_bits = tests_rdna4() ? 13 : 12;
  put(words, 32, level_bits, static_cast<u64>(least_level * 256));
  put(words, 32 + level_bits, level_bits, static_cast<u64>(greatest_level * 256));
  put(words, 64, 14, static_cast<u64>(static_cast<i64>(bias * 256)));
  put(words, 84, 2, is_linear ? 1 : 0);
  put(words, 86, 2, is_linear ? 1 : 0);
  put(words, 90, 2, mip_filter);
  put(words, 126, 2, border);
  return words;
}

const std::vector<NumberedFormat>& image_formats() {
  static const std::vector<NumberedFormat> formats = [] {
    std::vector<NumberedFormat> all;
    u32 data = 0;
    u32 number = 0;
    for (const Row& row : rows()) {
      ++data;
      for (const char* name : row.numbers) {
        ++number;
        for (const ElementFormat& each : element_formats())
          if (each.data_name == row.data && each.number_name == name)
            all.push_back({each, tests_gfx90a() ? data | gfx9_number(name) << 6 : number});
      }
    }
    return all;
  }();
  return formats;
}

const NumberedFormat& image_format(const std::string& name) {
  for (const NumberedFormat& each : image_formats())
    if (each.format.data_name + " " + each.format.number_name == name) return each;
  throw std::logic_error("no format " + name);
}

u64 image_base(const MachineState& state) { return (state.memory_address + 255) / 256 * 256; }

std::uint8_t* texel(MachineState& state, const Image& image, i64 offset) {
  return state.at(image_base(state) + static_cast<u64>(offset), image.format.bytes());
}

std::array<double, 4> sampled(MachineState& state, const Image& image, const Sampler& sampler, const Sample& sample) {
  const double level = clamped_level(image, sampler, sample);
  if (sampler.mip_filter == 0) return at_level(state, image, sampler, sample, 0);
  if (sampler.mip_filter == 1)
    return at_level(state, image, sampler, sample, static_cast<u32>(std::floor(level + 0.5)));
  const auto first = static_cast<u32>(std::floor(level));
  const double weight = level - first;
  auto sum = at_level(state, image, sampler, sample, first);
  if (weight == 0) return sum;
  const auto second = at_level(state, image, sampler, sample, first + 1);
  for (unsigned c = 0; c < 4; ++c) sum.at(c) = (1 - weight) * sum.at(c) + weight * second.at(c);
  return sum;
}

std::array<double, 4> gathered(MachineState& state, const Image& image, const Sampler& sampler, const Sample& sample,
                               unsigned component) {
  const Ends ends = ends_of(image, sampler, sample, 0, true);
  const auto at = [&](unsigned x, unsigned y) {
    const double value =
        texel_value(state, image, sampler, 0, {ends.index[0].at(x), ends.index[1].at(y), ends.index[2][0]})
            .at(component);
    return sample.compares ? compared(sampler, sample.reference, value) : value;
  };
  return {at(0, 1), at(1, 1), at(1, 0), at(0, 0)};
}

bool has_images() { return tested_target().architecture->has_images; }

Image image_of(Kind kind, u32 width, u32 height, u32 depth, const std::string& format) {
  Image image{.kind = kind, .width = width, .height = height, .depth = depth, .format = {}};
  image.format = image_format(format).format;
  image.format_number = image_format(format).number;
  return image;
}

void put_descriptors(MachineState& state, const Image& image, const Sampler& sampler) {
  const auto words = image.descriptor(image_base(state));
  for (unsigned n = 0; n < 8; ++n) state.scalar.at(4 + n) = words.at(n);
  const auto sampler_words = sampler.descriptor();
  for (unsigned n = 0; n < 4; ++n) state.scalar.at(12 + n) = sampler_words.at(n);
}

std::string tuple(unsigned first, unsigned count) {
  if (count == 1) return "v" + std::to_string(first);
  return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

std::string address_text(unsigned first, unsigned count) {
  if (!tests_rdna4() || count == 1) return tuple(first, count);
  std::string list = "[";
  for (unsigned n = 0; n < std::min(count, 3U); ++n) list += (n == 0 ? "v" : ", v") + std::to_string(first + n);
  if (count > 3) list += ", " + tuple(first + 3, count - 3);
  return list + "]";
}

std::string texel_addresses() { return tests_rdna4() ? "" : " unorm"; }

unsigned coordinate_count(Kind kind) {
  if (kind == Kind::one) return 1;
  return kind == Kind::two || kind == Kind::one_array ? 2 : 3;
}

std::string dimension_text(Kind kind) {
  constexpr std::array<const char*, 7> names = {"1D", "2D", "3D", "CUBE", "1D_ARRAY", "2D_ARRAY", "2D_MSAA"};
  if (tests_gfx90a()) return kind == Kind::one_array || kind == Kind::two_array ? " da" : "";
  return std::string(" dim:SQ_RSRC_IMG_") + names.at(static_cast<std::size_t>(kind));
}

void expect_image_match(const std::vector<Case>& cases, Options options) {
  std::vector<Case> known;
  std::ranges::copy_if(cases, std::back_inserter(known), [](const Case& each) { return assembles(each.assembly); });
  if (known.empty()) GTEST_SKIP() << "the tested architecture has none of these instructions";
  options.gfx90a_lacks_them = !tests_gfx90a();
  expect_match(known, options);
}

}  // namespace softgpu::isa::image
