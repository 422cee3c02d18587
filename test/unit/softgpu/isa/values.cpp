#include "values.hpp"

#include <algorithm>
#include <array>
#include <iomanip>
#include <limits>
#include <span>
#include <sstream>

namespace softgpu::isa {
namespace {

constexpr std::array<u64, 22> edges_16 = {0,    1,  2,  0xffff, 0xfffe, 0x7fff, 0x8000, 0x8001, 0xff, 0x100, 0x80,
                                          0x7f, 15, 16, 17,     31,     32,     0x0f0f, 0x5555, 4,    7,     8};
constexpr std::array<u64, 34> edges_32 = {
    0,          1,          2,          0xffffffff, 0xfffffffe, 0x7fffffff, 0x80000000, 0x80000001, 0xffff,
    0x10000,    0x8000,     0x7fff,     0xffff8000, 31,         32,         33,         63,         64,
    0xff,       0x80,       0x7f,       0x00ffffff, 0x00800000, 0x01000000, 0xff800000, 0x007fffff, 0x0f0f0f0f,
    0x55555555, 0x80808080, 0x7f7f7f7f, 0x00ff00ff, 0x12345678, 5,          16};
constexpr std::array<u64, 14> edges_64 = {
    0,          1,           0xffffffffffffffff, 0x7fffffffffffffff, 0x8000000000000000, 0x8000000000000001,
    0xffffffff, 0x100000000, 0x80000000,         0x7fffffff,         0xffffffff80000000, 0xffffffff00000000,
    63,         64};
// Zero, one and halves with both signs, ties, denormals, limits, infinities, quiet and signalling NaNs.
constexpr std::array<u64, 32> edges_f16 = {0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0x4100,
                                           0xc100, 0x4300, 0x0001, 0x8001, 0x03ff, 0x83ff, 0x0400, 0x8400,
                                           0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0xfd00,
                                           0x3c01, 0x3bff, 0x6400, 0x63ff, 0x37ff, 0x7800, 0x5640, 0x1400};
constexpr std::array<u64, 50> edges_f32 = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0xc0200000,
    0x40600000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff,
    0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0xffa00000, 0x3f800001, 0x3f7fffff, 0x4f000000,
    0xcf000000, 0x4effffff, 0x4f800000, 0x4f7fffff, 0x477fe000, 0x477ff000, 0x38800000, 0x33800000, 0x33000000,
    0x4b000000, 0x4afffffe, 0x4affffff, 0x3effffff, 0x33000001, 0x3f801000, 0x3f803000, 0x437f0000, 0x437e8000,
    0x477fff00, 0x7f000000, 0x00ffffff, 0x40490fdb, 0x5f000000};
constexpr std::array<u64, 40> edges_f64 = {
    0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 0x3fe0000000000000,
    0xbfe0000000000000, 0x3ff8000000000000, 0x4004000000000000, 0xc004000000000000, 0x0000000000000001,
    0x8000000000000001, 0x000fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x7fefffffffffffff,
    0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001,
    0x7ff0000000000001, 0xfff4000000000000, 0x3ff0000000000001, 0x3fefffffffffffff, 0x41dfffffffe00000,
    0x41e0000000000000, 0xc1e0000000000000, 0xc1e0000000100000, 0x41efffffffe00000, 0x41effffffff00000,
    0x41f0000000000000, 0x3ff0000010000000, 0x3ff0000030000000, 0x47efffffe0000000, 0x47effffff0000000,
    0x36a0000000000000, 0x3690000000000000, 0x3810000000000000, 0x4340000000000000, 0x3fdfffffffffffff};

u64 pick(std::span<const u64> edges, std::mt19937_64& random) { return edges[random() % edges.size()]; }

/// Random significand, exponent near that of 1.0, so that results neither overflow nor vanish.
u64 moderate_float(Type type, std::mt19937_64& random) {
  const u64 bits = random();
  const auto exponent = static_cast<int>(random() % 24) - 12;
  if (type == Type::float16) return (bits & 0x83ff) | static_cast<u64>(15 + exponent) << 10;
  if (type == Type::float32) return (bits & 0x807fffff) | static_cast<u64>(127 + exponent) << 23;
  return (bits & 0x800fffffffffffff) | static_cast<u64>(1023 + exponent) << 52;
}

u64 random_float(Type type, std::span<const u64> edges, std::mt19937_64& random) {
  switch (random() % 8) {
  case 0:
  case 1:
  case 2:
    return pick(edges, random);
  case 3:
    return random();
  default:
    return moderate_float(type, random);
  }
}

u64 random_integer(unsigned width, std::span<const u64> edges, std::mt19937_64& random) {
  if (random() % 2 == 0) return pick(edges, random);
  const u64 value = random() >> (64 - width) >> random() % width;  // every magnitude is as likely as any other
  return random() % 4 == 0 ? ~value : value;
}

u64 pair(u64 low, u64 high, unsigned width) { return (low & ((u64{1} << width) - 1)) | high << width; }

double number(Type type, u64 bits) {
  if (type == Type::float16) return from_bits<Half>(bits);
  return type == Type::float32 ? static_cast<double>(from_bits<float>(bits)) : from_bits<double>(bits);
}

/// Counts representable values, so that the distance of neighbours is 1 on both sides of zero and of a power of two.
double ordinal(Type type, u64 bits) {
  const u64 magnitude = bits & (sign_bit(type) - 1);
  const auto steps = static_cast<double>(magnitude);
  return (bits & sign_bit(type)) != 0 ? -steps : steps;
}

bool is_denormal(Type type, u64 bits) {
  const double magnitude = std::fabs(number(type, bits));
  const double least = type == Type::float16 ? 0x1p-14 : type == Type::float32 ? 0x1p-126 : 0x1p-1022;
  return magnitude != 0 && magnitude < least;
}

}  // namespace

bool is_nan(Type type, u64 bits) { return is_float(type) && std::isnan(number(type, bits)); }

bool is_quiet_nan(Type type, u64 bits) {
  const u64 quiet_bit = type == Type::float16 ? 0x200 : type == Type::float32 ? 0x400000 : u64{1} << 51;
  return is_nan(type, bits) && (bits & quiet_bit) != 0;
}

u64 interesting_value(Type type, std::mt19937_64& random) {
  const u64 garbage = random();
  switch (type) {
  case Type::uint16:
  case Type::int16:
    return pair(random_integer(16, edges_16, random), garbage, 16);
  case Type::float16:
    return pair(random_float(type, edges_f16, random), garbage, 16);
  case Type::packed_16:
    return pair(random_integer(16, edges_16, random), random_integer(16, edges_16, random), 16);
  case Type::packed_float16:
    return pair(random_float(Type::float16, edges_f16, random), random_float(Type::float16, edges_f16, random), 16);
  case Type::uint32:
  case Type::int32:
    return random_integer(32, edges_32, random);
  case Type::float32:
    return random_float(type, edges_f32, random);
  case Type::packed_float32:
    return pair(random_float(Type::float32, edges_f32, random), random_float(Type::float32, edges_f32, random), 32);
  case Type::uint64:
  case Type::int64:
    return random_integer(64, edges_64, random);
  case Type::float64:
    return random_float(type, edges_f64, random);
  }
  return garbage;
}

bool agree(Type type, u64 got, u64 want, Tolerance tolerance) {
  if (type == Type::packed_float16)
    return agree(Type::float16, got & 0xffff, want & 0xffff, tolerance) &&
           agree(Type::float16, got >> 16, want >> 16, tolerance);
  if (type == Type::packed_float32)
    return agree(Type::float32, got & 0xffffffff, want & 0xffffffff, tolerance) &&
           agree(Type::float32, got >> 32, want >> 32, tolerance);
  if (tolerance.high_half_is_undefined) got &= 0xffff, want &= 0xffff;
  if (got == want) return true;
  if (!is_float(type)) return false;
  if (type == Type::float16 && (got ^ want) >> 16 != 0) return false;  // bits beyond the result are not a number
  if (is_nan(type, want)) return tolerance.quiets ? is_quiet_nan(type, got) : is_nan(type, got);
  if (is_nan(type, got)) return false;
  if (tolerance.denormals_may_flush && is_denormal(type, want) && number(type, got) == 0) return true;
  const double error = std::fabs(number(type, got) - number(type, want));
  return std::fabs(ordinal(type, got) - ordinal(type, want)) <= tolerance.ulp || error < tolerance.absolute;
}

std::string describe(Type type, u64 bits) {
  std::ostringstream text;
  text << "0x" << std::hex << std::setfill('0') << std::setw(bytes_of(type) == 8 ? 16 : 8) << bits;
  if (is_float(type)) text << " (" << std::setprecision(17) << number(type, bits) << ")";
  return text.str();
}

}  // namespace softgpu::isa
