// The patterns of expressions.
#pragma once

#include <span>
#include <string_view>

#include "value_type.hpp"

namespace random_programs {

/// One way to make a value. In its text, a name in braces stands for a random choice; other text is written as it is. T
/// is the requested type.
///
/// - {t}, {e}, {u}: an expression of T, of T's element, of T as an unsigned type
/// - {T}, {E}, {U}: their names
/// - {variable}: a variable of T, or what becomes T by conversion of one; no constant
/// - {u32}, {f64x2} and so on: an expression of that type
/// - {integer}, {small}, {real}: an expression of any integer scalar, of one with at most 16 bits, of f32 or f64
/// - {same bits}: of any integer type, scalar or vector, that is as large as T
/// - {converted}: of a vector with as many elements as T that converts to T
/// - {condition}, {compared}: a bool; two values of any scalar type, compared
/// - {comparison}: an operator
/// - {literal}, {positive}: a constant of T; one that is at least 2
/// - {shift}, {field}, {mask}: a constant below the width of T's element; position and size of a bit field in it; a
///   constant with some of its lower bits set
/// - {elements}, {constants}: a list of expressions, of constants, one for each element
/// - {shuffle}: a list of indices into two vectors like T
/// - {call}: an integer that comes from a call of a function of the program's
struct Pattern {
  std::string_view text;
  unsigned cost = 1;     // about as many instructions for 32 bits
  unsigned weight = 10;  // how often
};

[[nodiscard]] std::span<const Pattern> patterns_of(ValueType type);
[[nodiscard]] std::span<const Pattern> condition_patterns();

}  // namespace random_programs
