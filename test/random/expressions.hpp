// Random expressions.
#pragma once

#include <string>
#include <string_view>

#include "choices.hpp"
#include "patterns.hpp"
#include "scope.hpp"

namespace random_programs {

/// Writes expressions of a scope's variables and functions, and takes their cost off its budget. All expressions are
/// defined, and have the same value on the host and on a GPU.
class Expressions {
public:
  Expressions(Choices& choices, Scope& scope) : choices_(&choices), scope_(&scope) {}

  /// `depth`: how many patterns there may be within one another.
  [[nodiscard]] std::string value(ValueType type, unsigned depth);
  /// The same, never a mere variable or constant.
  [[nodiscard]] std::string computed(ValueType type, unsigned depth);
  [[nodiscard]] std::string condition(unsigned depth);
  [[nodiscard]] std::string literal(ValueType type);
  /// An index of a power of two of `elements`.
  [[nodiscard]] std::string index(std::uint32_t elements, unsigned depth);
  /// The same for what is stored. Compilers know nothing of its bits: see docs/random_programs.md.
  [[nodiscard]] std::string hidden_index(std::uint32_t elements, unsigned depth);

private:
  [[nodiscard]] std::string leaf(ValueType type);
  [[nodiscard]] std::string variable_leaf(ValueType type);
  [[nodiscard]] std::string converted_leaf(ValueType type);
  [[nodiscard]] std::string read(const Variable& variable, ValueType type);
  [[nodiscard]] std::string expand(const Pattern& pattern, ValueType type, unsigned depth);
  [[nodiscard]] std::string placeholder(std::string_view name, ValueType type, unsigned depth);
  [[nodiscard]] std::string constant(std::string_view name, ValueType type);
  [[nodiscard]] std::string any_call(unsigned depth);
  [[nodiscard]] const Variable* array_like(const Function::Array& array) const;
  [[nodiscard]] std::string compared(unsigned depth);
  [[nodiscard]] ValueType same_bits(ValueType type);
  [[nodiscard]] ValueType converts_to(ValueType type);
  [[nodiscard]] const Pattern& choose(std::span<const Pattern> patterns);

  Choices* choices_;
  Scope* scope_;
};

}  // namespace random_programs
