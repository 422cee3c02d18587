// The names that an expression can use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "value_type.hpp"

namespace random_programs {

enum class Uniformity { divergent, uniform };
enum class Access { read, write };

/// A variable, a field of one, or an array of `elements` values, which is a power of two.
struct Variable {
  std::string name;
  ValueType type;
  Uniformity uniformity = Uniformity::divergent;  // uniform: the same in all work-items
  Access access = Access::write;
  std::uint32_t elements = 0;  // 0: no array

  [[nodiscard]] bool is_array() const { return elements != 0; }
};

/// A function of the program's that is not inlined.
struct Function {
  /// A last parameter: a reference to an array.
  struct Array {
    ValueType type;
    std::uint32_t elements = 0;
  };
  std::string name;
  ValueType type{};
  std::vector<ValueType> parameters{};
  std::optional<Array> array{};
};

/// The visible names, and the remaining budget of an expression.
struct Scope {
  std::vector<Variable> variables;
  std::vector<Function> functions;
  int budget = 0;                                 // about as many instructions
  Uniformity uniformity = Uniformity::divergent;  // uniform: expressions use uniform variables only
};

}  // namespace random_programs
