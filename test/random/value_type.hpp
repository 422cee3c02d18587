// The types of a program's values.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace random_programs {

enum class Kind { signed_integer, unsigned_integer, floating };

/// A scalar, or a vector of two or four of them. Programs spell it u8, i32, f64, u16x2.
struct ValueType {
  Kind kind = Kind::unsigned_integer;
  unsigned bits = 32;  // of an element
  unsigned lanes = 1;

  [[nodiscard]] constexpr bool is_vector() const { return lanes != 1; }
  [[nodiscard]] constexpr bool is_floating() const { return kind == Kind::floating; }
  [[nodiscard]] constexpr bool is_integer() const { return !is_floating(); }
  [[nodiscard]] constexpr unsigned all_bits() const { return bits * lanes; }
  [[nodiscard]] constexpr ValueType element() const { return {kind, bits, 1}; }
  [[nodiscard]] constexpr ValueType as_unsigned() const { return {Kind::unsigned_integer, bits, lanes}; }

  [[nodiscard]] std::string name() const {
    constexpr std::string_view letters = "iuf";
    std::string result = letters[static_cast<std::size_t>(kind)] + std::to_string(bits);
    if (is_vector()) result += "x" + std::to_string(lanes);
    return result;
  }

  friend constexpr bool operator==(const ValueType&, const ValueType&) = default;
};

namespace types {
inline constexpr ValueType i8{Kind::signed_integer, 8}, u8{Kind::unsigned_integer, 8};
inline constexpr ValueType i16{Kind::signed_integer, 16}, u16{Kind::unsigned_integer, 16};
inline constexpr ValueType i32{Kind::signed_integer, 32}, u32{Kind::unsigned_integer, 32};
inline constexpr ValueType i64{Kind::signed_integer, 64}, u64{Kind::unsigned_integer, 64};
inline constexpr ValueType f16{Kind::floating, 16}, f32{Kind::floating, 32}, f64{Kind::floating, 64};

constexpr ValueType vector(ValueType element, unsigned lanes) { return {element.kind, element.bits, lanes}; }

inline constexpr std::array small_integers = {i8, u8, i16, u16};
inline constexpr std::array integers = {i8, u8, i16, u16, i32, u32, i64, u64};
inline constexpr std::array reals = {f32, f64};
inline constexpr std::array scalars = {i8, u8, i16, u16, i32, u32, i64, u64, f32, f64, f16};
inline constexpr std::array vectors = {
    vector(i8, 2),  vector(u8, 2),  vector(i8, 4),  vector(u8, 4),  vector(i16, 2), vector(u16, 2),
    vector(i16, 4), vector(u16, 4), vector(i32, 2), vector(u32, 2), vector(i32, 4), vector(u32, 4),
    vector(f16, 2), vector(f16, 4), vector(f32, 2), vector(f32, 4),
};
// Those of packed instructions.
inline constexpr std::array packed_vectors = {
    vector(i16, 2), vector(u16, 2), vector(i16, 4), vector(u16, 4), vector(f16, 2), vector(f16, 4), vector(f32, 2),
};
}  // namespace types

}  // namespace random_programs
