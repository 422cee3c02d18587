#include "softgpu/compute/run_time/element_format.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>

#include "softgpu/compute/run_time/small_float.hpp"

namespace softgpu::compute::runtime {
namespace {

/// By the number of the data format. The manual's names begin at the highest bits: 2_10_10_10 has X in its lowest ten.
constexpr std::array<std::uint8_t, 4> layouts[] = {
    {},                // INVALID
    {8},               // 8
    {16},              // 16
    {8, 8},            // 8_8
    {32},              // 32
    {16, 16},          // 16_16
    {11, 11, 10},      // 10_11_11
    {10, 11, 11},      // 11_11_10
    {2, 10, 10, 10},   // 10_10_10_2
    {10, 10, 10, 2},   // 2_10_10_10
    {8, 8, 8, 8},      // 8_8_8_8
    {32, 32},          // 32_32
    {16, 16, 16, 16},  // 16_16_16_16
    {32, 32, 32},      // 32_32_32
    {32, 32, 32, 32},  // 32_32_32_32
    {},                // reserved
    {5, 6, 5},         // 5_6_5, from here on of images only
    {5, 5, 5, 1},      // 1_5_5_5
    {1, 5, 5, 5},      // 5_5_5_1
    {4, 4, 4, 4},      // 4_4_4_4
};

/// Numbers that follow one another, of one data format.
struct Formats {
  std::uint16_t first;
  std::uint8_t data_format;
  std::span<const NumberFormat> numbers;
};

constexpr NumberFormat all_numbers[] = {NumberFormat::unorm,   NumberFormat::snorm, NumberFormat::uscaled,
                                        NumberFormat::sscaled, NumberFormat::uint,  NumberFormat::sint,
                                        NumberFormat::real};
constexpr NumberFormat of_dwords[] = {NumberFormat::uint, NumberFormat::sint, NumberFormat::real};
constexpr NumberFormat unscaled[] = {NumberFormat::unorm, NumberFormat::snorm, NumberFormat::uint, NumberFormat::sint};
constexpr NumberFormat only_real[] = {NumberFormat::real};
constexpr NumberFormat only_srgb[] = {NumberFormat::srgb};
constexpr NumberFormat only_unorm[] = {NumberFormat::unorm};
constexpr std::span<const NumberFormat> all(all_numbers);
constexpr std::span<const NumberFormat> all_but_real = all.first(6);

// The manuals' tables "Data Format" and "Image Format"; ROCr's resource_nv.h, resource_gfx11.h and
// resource_gfx12.h have the same numbers.
constexpr Formats gfx10_formats[] = {
    {1, 1, all_but_real},  {7, 2, all},          {14, 3, all_but_real}, {20, 4, of_dwords},    {23, 5, all},
    {30, 6, all},          {37, 7, all},         {44, 8, all_but_real}, {50, 9, all_but_real}, {56, 10, all_but_real},
    {62, 11, of_dwords},   {65, 12, all},        {72, 13, of_dwords},   {75, 14, of_dwords},   {128, 1, only_srgb},
    {129, 3, only_srgb},   {130, 10, only_srgb}, {133, 16, only_unorm}, {134, 17, only_unorm}, {135, 18, only_unorm},
    {136, 19, only_unorm},
};
constexpr Formats gfx11_formats[] = {
    {1, 1, all_but_real}, {7, 2, all},         {14, 3, all_but_real}, {20, 4, of_dwords},    {23, 5, all},
    {30, 6, only_real},   {31, 7, only_real},  {32, 8, unscaled},     {36, 9, all_but_real}, {42, 10, all_but_real},
    {48, 11, of_dwords},  {51, 12, all},       {58, 13, of_dwords},   {61, 14, of_dwords},   {64, 1, only_srgb},
    {65, 3, only_srgb},   {66, 10, only_srgb}, {68, 16, only_unorm},  {69, 17, only_unorm},  {70, 18, only_unorm},
    {71, 19, only_unorm},
};

/// IEC 61966-2-1.
double linear_of_srgb(double value) {
  return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
}

bool exists(const std::array<std::uint8_t, 4>& bits, NumberFormat number) {
  using enum NumberFormat;
  if (number == reserved || number > srgb || bits[0] == 0) return false;
  if (number == uint || number == sint) return true;
  if (number != real) return bits[0] != 32;
  return bits[0] >= 10 && bits[3] != 2;  // neither bytes nor two bits make a floating-point number
}

std::uint32_t low_bits(unsigned count) { return count == 32 ? ~0U : (1U << count) - 1; }

std::int64_t sign_extended(std::uint32_t bits, unsigned count) {
  return static_cast<std::int32_t>(bits << (32 - count)) >> (32 - count);
}

SmallFloat float_of(unsigned bits) { return bits == 16 ? half_float : SmallFloat{bits - 5, false}; }

std::uint32_t rounded_integer(double value, double least, double greatest, double scale) {
  if (std::isnan(value)) return 0;
  return static_cast<std::uint32_t>(
      static_cast<std::int64_t>(std::nearbyint(std::clamp(value, least, greatest) * scale)));
}

std::uint32_t truncated_integer(double value, double least, double greatest) {
  if (std::isnan(value)) return 0;
  return static_cast<std::uint32_t>(static_cast<std::int64_t>(std::clamp(value, least, greatest)));
}

}  // namespace

std::optional<ElementFormat> ElementFormat::make(std::uint32_t data_format, std::uint32_t number_format) {
  if (data_format >= std::size(layouts)) return std::nullopt;
  ElementFormat format;
  format.bits_ = layouts[data_format];
  format.number_ = static_cast<NumberFormat>(number_format);
  if (!exists(format.bits_, format.number_)) return std::nullopt;
  for (const std::uint8_t bits : format.bits_) format.bytes_ += bits;
  format.bytes_ /= 8;
  return format;
}

std::optional<ElementFormat> ElementFormat::make_unified(std::uint32_t format, ImageDescriptors numbering) {
  if (numbering == ImageDescriptors::gfx9) {
    constexpr std::uint32_t gfx9_srgb = 9;
    const std::uint32_t number = format >> 6;
    if (number < 8) return make(format & 63, number);
    if (number != gfx9_srgb) return std::nullopt;
    return make(format & 63, static_cast<std::uint32_t>(NumberFormat::srgb));
  }
  const auto known = numbering == ImageDescriptors::gfx10 ? std::span<const Formats>(gfx10_formats) : gfx11_formats;
  for (const Formats& each : known)
    if (format >= each.first && format - each.first < each.numbers.size())
      return make(each.data_format, static_cast<std::uint32_t>(each.numbers[format - each.first]));
  return std::nullopt;
}

std::uint32_t ElementFormat::first_bit(unsigned component) const {
  std::uint32_t first = 0;
  for (unsigned c = 0; c < component; ++c) first += bits_.at(c);
  return first;
}

double ElementFormat::number(std::uint32_t bits, unsigned count, unsigned component) const {
  using enum NumberFormat;
  const auto value = static_cast<double>(sign_extended(bits, count));
  switch (number_) {
  case unorm:
    return bits / static_cast<double>(low_bits(count));
  case srgb: {
    const double stored = bits / static_cast<double>(low_bits(count));
    return component == 3 ? stored : linear_of_srgb(stored);
  }
  case snorm:
    return std::max(value / low_bits(count - 1), -1.0);
  case uscaled:
    return bits;
  case sscaled:
    return value;
  default:
    return count == 32 ? std::bit_cast<float>(bits) : widen(float_of(count), bits);
  }
}

std::uint32_t ElementFormat::get(const ElementWords& words, unsigned component, ComponentWidth width) const {
  const unsigned count = bits_.at(component);
  if (count == 0) return 0;
  const std::uint32_t first = first_bit(component);
  const std::uint32_t bits = words.at(first / 32) >> first % 32 & low_bits(count);
  if (is_integer()) {
    const std::uint32_t value =
        number_ == NumberFormat::sint ? static_cast<std::uint32_t>(sign_extended(bits, count)) : bits;
    return width == ComponentWidth::half ? value & 0xffff : value;
  }
  if (count == 32 && width == ComponentWidth::full) return bits;  // a signalling NaN stays signalling
  const double value = number(bits, count, component);
  return width == ComponentWidth::half ? narrow(half_float, value)
                                       : std::bit_cast<std::uint32_t>(static_cast<float>(value));
}

std::uint32_t ElementFormat::encode(double value, unsigned count) const {
  using enum NumberFormat;
  const double greatest = low_bits(count);
  const double greatest_signed = low_bits(count - 1);
  switch (number_) {
  case unorm:
    return rounded_integer(value, 0, 1, greatest);
  case snorm:
    return rounded_integer(value, -1, 1, greatest_signed);
  case uscaled:
    return truncated_integer(value, 0, greatest);
  case sscaled:
    return truncated_integer(value, -greatest_signed - 1, greatest_signed);
  default:
    return count == 32 ? std::bit_cast<std::uint32_t>(static_cast<float>(value)) : narrow(float_of(count), value);
  }
}

std::uint32_t ElementFormat::clamp_integer(std::uint32_t value, unsigned count, ComponentWidth width) const {
  const std::int64_t greatest_signed = low_bits(count - 1);
  if (number_ == NumberFormat::uint) {
    const std::uint32_t given = width == ComponentWidth::half ? value & 0xffff : value;
    return std::min(given, low_bits(count));
  }
  const std::int64_t given = sign_extended(value, width == ComponentWidth::half ? 16 : 32);
  return static_cast<std::uint32_t>(std::clamp(given, -greatest_signed - 1, greatest_signed));
}

void ElementFormat::put(ElementWords& words, unsigned component, std::uint32_t value, ComponentWidth width) const {
  const unsigned count = bits_.at(component);
  if (count == 0) return;
  std::uint32_t bits = value;
  if (is_integer()) {
    bits = clamp_integer(value, count, width);
  } else if (width == ComponentWidth::half) {
    bits = encode(widen(half_float, value), count);
  } else if (number_ != NumberFormat::real || count != 32) {
    bits = encode(std::bit_cast<float>(value), count);
  }
  const std::uint32_t first = first_bit(component);
  std::uint32_t& word = words.at(first / 32);
  word = (word & ~(low_bits(count) << first % 32)) | (bits & low_bits(count)) << first % 32;
}

std::uint32_t ElementFormat::one(ComponentWidth width) const { return is_integer() ? 1 : float_one(width); }

std::uint32_t ElementFormat::float_one(ComponentWidth width) {
  return width == ComponentWidth::half ? 0x3c00 : std::bit_cast<std::uint32_t>(1.0F);
}

}  // namespace softgpu::compute::runtime
