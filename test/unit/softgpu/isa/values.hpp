// The types of operands: how a register holds them, which values are worth trying, when two results agree.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

#include "half.hpp"

namespace softgpu::isa {

using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

// Packed operands, in the type of the register (pair) that holds them.
struct PackedU16 {
  u16 low, high;
};
struct PackedI16 {
  i16 low, high;
};
struct PackedHalf {
  Half low, high;
};
struct PackedFloat {
  float low, high;
};

enum class Type {
  uint16,
  int16,
  float16,
  uint32,
  int32,
  float32,
  uint64,
  int64,
  float64,
  packed_16,
  packed_float16,
  packed_float32
};

[[nodiscard]] constexpr unsigned bytes_of(Type type) {
  switch (type) {
  case Type::uint16:
  case Type::int16:
  case Type::float16:
    return 2;
  case Type::uint64:
  case Type::int64:
  case Type::float64:
  case Type::packed_float32:
    return 8;
  default:
    return 4;
  }
}
[[nodiscard]] constexpr unsigned registers_of(Type type) { return bytes_of(type) == 8 ? 2 : 1; }
[[nodiscard]] constexpr bool is_float(Type type) {
  return type == Type::float16 || type == Type::float32 || type == Type::float64;
}
[[nodiscard]] constexpr u64 sign_bit(Type type) { return u64{1} << (bytes_of(type) * 8 - 1); }

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, u16>)
    return Type::uint16;
  else if constexpr (std::is_same_v<T, i16>)
    return Type::int16;
  else if constexpr (std::is_same_v<T, Half>)
    return Type::float16;
  else if constexpr (std::is_same_v<T, u32>)
    return Type::uint32;
  else if constexpr (std::is_same_v<T, i32>)
    return Type::int32;
  else if constexpr (std::is_same_v<T, float>)
    return Type::float32;
  else if constexpr (std::is_same_v<T, u64>)
    return Type::uint64;
  else if constexpr (std::is_same_v<T, i64>)
    return Type::int64;
  else if constexpr (std::is_same_v<T, double>)
    return Type::float64;
  else if constexpr (std::is_same_v<T, PackedHalf>)
    return Type::packed_float16;
  else if constexpr (std::is_same_v<T, PackedFloat>)
    return Type::packed_float32;
  else {
    static_assert(std::is_same_v<T, PackedU16> || std::is_same_v<T, PackedI16>);
    return Type::packed_16;
  }
}

/// The value that `bits` encode. Bits beyond the type's width are ignored.
template <class T>
[[nodiscard]] T from_bits(u64 bits) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(bits);
  else if constexpr (std::is_same_v<T, Half>)
    return Half::from_bits(static_cast<u16>(bits));
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<u32>(bits));
  else if constexpr (std::is_same_v<T, PackedU16> || std::is_same_v<T, PackedI16> || std::is_same_v<T, PackedHalf>) {
    using Element = decltype(T::low);
    return {from_bits<Element>(bits), from_bits<Element>(bits >> 16)};
  } else
    return std::bit_cast<T>(bits);
}

template <class T>
[[nodiscard]] u64 to_bits(T value) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<std::make_unsigned_t<T>>(value);
  else if constexpr (std::is_same_v<T, Half>)
    return value.bits;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<u32>(value);
  else if constexpr (std::is_same_v<T, PackedU16> || std::is_same_v<T, PackedI16> || std::is_same_v<T, PackedHalf>)
    return to_bits(value.low) | to_bits(value.high) << 16;
  else
    return std::bit_cast<u64>(value);
}

[[nodiscard]] bool is_nan(Type type, u64 bits);
[[nodiscard]] bool is_quiet_nan(Type type, u64 bits);
template <class T>
[[nodiscard]] bool is_signalling(T value) {
  return is_nan(type_of<T>(), to_bits(value)) && !is_quiet_nan(type_of<T>(), to_bits(value));
}
/// The same NaN with its quiet bit set; any other value as it is.
template <class T>
[[nodiscard]] T quiet(T value) {
  constexpr u64 quiet_bit = std::is_same_v<T, Half> ? 0x200 : std::is_same_v<T, float> ? 0x400000 : u64{1} << 51;
  return is_nan(type_of<T>(), to_bits(value)) ? from_bits<T>(to_bits(value) | quiet_bit) : value;
}

/// An edge value of the type or a random one, about half of the time each. Fills whole registers: what lies beyond a
/// 16-bit operand is garbage.
[[nodiscard]] u64 interesting_value(Type type, std::mt19937_64& random);

/// How exactly two floating-point results have to agree.
struct Tolerance {
  double ulp = 0;
  double absolute = 0;                  ///< an error below this passes too
  bool high_half_is_undefined = false;  ///< 16-bit results: the manual does not say what the rest of the register holds
  bool quiets = false;                  ///< the manual says that a NaN result is quiet
  bool denormals_may_flush = false;     ///< the instruction may take denormals for zero and give zero for denormals
};
/// Bit for bit, or both NaNs, or within the tolerance.
[[nodiscard]] bool agree(Type type, u64 got, u64 want, Tolerance tolerance);

/// For a person: hexadecimal, and the number for floating-point types.
[[nodiscard]] std::string describe(Type type, u64 bits);

}  // namespace softgpu::isa
