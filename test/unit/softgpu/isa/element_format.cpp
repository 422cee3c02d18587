#include "element_format.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace softgpu::isa {
namespace {

bool is_integer(Number number) { return number == Number::uint || number == Number::sint; }

u64 get_bits(const std::uint8_t* memory, unsigned first, unsigned count) {
  u64 value = 0;
  for (unsigned i = 0; i < count; ++i) {
    const u64 bit = memory[(first + i) / 8] >> (first + i) % 8 & 1;
    value |= bit << i;
  }
  return value;
}

void set_bits(std::uint8_t* memory, unsigned first, unsigned count, u64 value) {
  for (unsigned i = 0; i < count; ++i) {
    const auto bit = static_cast<std::uint8_t>(1U << (first + i) % 8);
    std::uint8_t& byte = memory[(first + i) / 8];
    byte = static_cast<std::uint8_t>((value >> i & 1) != 0 ? byte | bit : byte & ~bit);
  }
}

i64 as_signed(u64 bits, unsigned count) {
  return bits >> (count - 1) != 0 ? static_cast<i64>(bits) - (i64{1} << count) : static_cast<i64>(bits);
}

/// Floating-point numbers without a sign: 5 bits of exponent above the fraction.
double unsigned_float(u64 bits, unsigned count) {
  const unsigned fraction_bits = count - 5;
  const auto exponent = static_cast<int>(bits >> fraction_bits);
  const double fraction =
      std::ldexp(static_cast<double>(bits % (u64{1} << fraction_bits)), -static_cast<int>(fraction_bits));
  if (exponent == 31)
    return fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  return exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
}

/// The nearest of all numbers there are; of two, the even one.
u64 nearest_unsigned_float(double value, unsigned count) {
  const u64 infinity = u64{31} << (count - 5);
  if (std::isnan(value)) return infinity | u64{1} << (count - 6);
  if (std::isinf(value)) return value > 0 ? infinity : 0;
  value = std::min(std::max(value, 0.0), unsigned_float(infinity - 1, count));
  u64 best = 0;
  for (u64 bits = 1; bits < infinity; ++bits) {
    const double distance = std::fabs(unsigned_float(bits, count) - value);
    const double least = std::fabs(unsigned_float(best, count) - value);
    if (distance < least || (distance == least && bits % 2 == 0)) best = bits;
  }
  return best;
}

double clamped(double value, double least, double greatest) {
  return std::isnan(value) ? 0 : std::min(std::max(value, least), greatest);
}

double decode(Number number, u64 bits, unsigned count) {
  const double greatest = std::ldexp(1, static_cast<int>(count)) - 1;
  const double greatest_signed = std::ldexp(1, static_cast<int>(count) - 1) - 1;
  switch (number) {
  case Number::unorm:
    return static_cast<double>(bits) / greatest;
  case Number::snorm:
    return std::max(-1.0, static_cast<double>(as_signed(bits, count)) / greatest_signed);
  case Number::uscaled:
    return static_cast<double>(bits);
  case Number::sscaled:
    return static_cast<double>(as_signed(bits, count));
  default:
    if (count == 16) return Half::from_bits(static_cast<u16>(bits));
    return count == 32 ? from_bits<float>(bits) : unsigned_float(bits, count);
  }
}

u64 encode(Number number, double value, unsigned count) {
  const double greatest = std::ldexp(1, static_cast<int>(count)) - 1;
  const double greatest_signed = std::ldexp(1, static_cast<int>(count) - 1) - 1;
  switch (number) {
  case Number::unorm:
    return static_cast<u64>(std::nearbyint(clamped(value, 0, 1) * greatest));
  case Number::snorm:
    return static_cast<u64>(static_cast<i64>(std::nearbyint(clamped(value, -1, 1) * greatest_signed)));
  case Number::uscaled:
    return static_cast<u64>(clamped(value, 0, greatest));
  case Number::sscaled:
    return static_cast<u64>(static_cast<i64>(clamped(value, -greatest_signed - 1, greatest_signed)));
  default:
    if (count == 32) return to_bits(static_cast<float>(value));
    if (count == 16) return std::isnan(value) && std::signbit(value) ? 0xfe00 : to_bits(Half(value));
    return nearest_unsigned_float(value, count);
  }
}

u64 half_bits(double value) { return encode(Number::floating, value, 16); }

std::vector<ElementFormat> make_formats() {
  const std::pair<const char*, std::vector<unsigned>> layouts[] = {
      {"8", {8}},
      {"16", {16}},
      {"8_8", {8, 8}},
      {"32", {32}},
      {"16_16", {16, 16}},
      {"10_11_11", {11, 11, 10}},
      {"11_11_10", {10, 11, 11}},
      {"10_10_10_2", {2, 10, 10, 10}},
      {"2_10_10_10", {10, 10, 10, 2}},
      {"8_8_8_8", {8, 8, 8, 8}},
      {"32_32", {32, 32}},
      {"16_16_16_16", {16, 16, 16, 16}},
      {"32_32_32", {32, 32, 32}},
      {"32_32_32_32", {32, 32, 32, 32}},
  };
  struct NumberRow {
    const char* name;
    u32 format;
    Number number;
  };
  const NumberRow numbers[] = {
      {"UNORM", 0, Number::unorm},     {"SNORM", 1, Number::snorm}, {"USCALED", 2, Number::uscaled},
      {"SSCALED", 3, Number::sscaled}, {"UINT", 4, Number::uint},   {"SINT", 5, Number::sint},
      {"FLOAT", 7, Number::floating},
  };
  std::vector<ElementFormat> formats;
  u32 data_format = 0;
  for (const auto& [name, bits] : layouts) {
    ++data_format;
    for (const NumberRow& row : numbers) {
      const bool is_float = row.number == Number::floating;
      const auto has = [&, &layout = bits](unsigned count) {
        return std::find(layout.begin(), layout.end(), count) != layout.end();
      };
      if (is_float && (has(8) || has(2))) continue;
      if (has(32) && !is_float && !is_integer(row.number)) continue;
      formats.push_back({name, data_format, row.name, row.format, row.number, bits});
    }
  }
  return formats;
}

}  // namespace

unsigned ElementFormat::bytes() const {
  unsigned sum = 0;
  for (const unsigned count : bits) sum += count;
  return sum / 8;
}

u32 ElementFormat::load(const std::uint8_t* memory, unsigned index, bool is_half) const {
  if (index >= bits.size()) return 0;
  unsigned first = 0;
  for (unsigned i = 0; i < index; ++i) first += bits[i];
  const unsigned count = bits[index];
  const u64 raw = get_bits(memory, first, count);
  if (number == Number::uint) return static_cast<u32>(is_half ? raw % 0x10000 : raw);
  if (number == Number::sint) return static_cast<u32>(as_signed(raw, count)) & (is_half ? 0xffff : ~0U);
  if (count == 32 && !is_half) return static_cast<u32>(raw);
  const double value = decode(number, raw, count);
  return static_cast<u32>(is_half ? half_bits(value) : to_bits(static_cast<float>(value)));
}

void ElementFormat::store(std::uint8_t* memory, unsigned index, u32 value, bool is_half) const {
  if (index >= bits.size()) return;
  unsigned first = 0;
  for (unsigned i = 0; i < index; ++i) first += bits[i];
  const unsigned count = bits[index];
  u64 raw = value;
  if (number == Number::uint) {
    raw = std::min<u64>(is_half ? value % 0x10000 : value, (u64{1} << count) - 1);
  } else if (number == Number::sint) {
    const i64 given = is_half ? i64{static_cast<i16>(value)} : i64{static_cast<i32>(value)};
    raw = static_cast<u64>(std::clamp(given, -(i64{1} << (count - 1)), (i64{1} << (count - 1)) - 1));
  } else if (is_half || count != 32) {
    const double number_given = is_half ? double{Half::from_bits(static_cast<u16>(value))} : from_bits<float>(value);
    raw = encode(number, number_given, count);
  }
  set_bits(memory, first, count, raw);
}

u32 ElementFormat::one(bool is_half) const {
  if (is_integer(number)) return 1;
  return is_half ? 0x3c00 : 0x3f800000;
}

const std::vector<ElementFormat>& element_formats() {
  static const std::vector<ElementFormat> formats = make_formats();
  return formats;
}

}  // namespace softgpu::isa
