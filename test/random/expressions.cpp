#include "expressions.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

namespace random_programs {
namespace {

using namespace std::literals;

/// What the type's name in a pattern, such as "u32", means.
std::optional<ValueType> type_named(std::string_view name) {
  const auto find = [&](const auto& candidates) -> std::optional<ValueType> {
    for (const ValueType type : candidates)
      if (type.name() == name) return type;
    return std::nullopt;
  };
  if (const auto scalar = find(types::scalars)) return scalar;
  return find(types::vectors);
}

/// `count` texts by `make`, with commas.
template <class Make>
std::string list(unsigned count, Make make) {
  std::string result;
  for (unsigned i = 0; i != count; ++i) {
    if (i != 0) result += ", ";
    result += make();
  }
  return result;
}

/// Whether a value of `type` can be had from a variable: itself, an element, or part of a larger vector.
bool offers(const Variable& variable, ValueType type) {
  if (variable.type == type) return true;
  return variable.type.element() == type.element() && variable.type.lanes > type.lanes;
}

/// Of two such constants beside each other, LLVM 15 mistakes some pairs: see docs/random_programs.md.
bool has_packed_integers(ValueType type) { return type.is_vector() && type.is_integer() && type.bits == 16; }

int cost_of(const Pattern& pattern, ValueType type) {
  const unsigned words = std::max(type.all_bits() + 31, 32U) / 32;
  const unsigned parts = type.is_vector() && type.bits == 8 ? type.lanes : words;
  return static_cast<int>(pattern.cost * parts * (type.is_integer() && type.bits == 64 && pattern.cost > 1 ? 2 : 1));
}

}  // namespace

std::string Expressions::value(ValueType type, unsigned depth) {
  if (depth == 0 || scope_->budget <= 0 || choices_->percent(15)) return leaf(type);
  const Pattern& pattern = choose(patterns_of(type));
  const int cost = cost_of(pattern, type);
  if (cost > scope_->budget) return leaf(type);
  scope_->budget -= cost;
  return expand(pattern, type, depth - 1);
}

std::string Expressions::computed(ValueType type, unsigned depth) {
  const Pattern& pattern = choose(patterns_of(type));
  scope_->budget -= cost_of(pattern, type);
  return expand(pattern, type, depth - 1);
}

std::string Expressions::condition(unsigned depth) {
  if (depth == 0 || scope_->budget <= 0) return compared(0);
  const Pattern& pattern = choose(condition_patterns());
  scope_->budget -= static_cast<int>(pattern.cost);
  return expand(pattern, types::u32, depth - 1);
}

const Pattern& Expressions::choose(std::span<const Pattern> patterns) {
  std::size_t all = 0;
  for (const Pattern& pattern : patterns) all += pattern.weight;
  std::size_t place = choices_->below(all);
  for (const Pattern& pattern : patterns) {
    if (place < pattern.weight) return pattern;
    place -= pattern.weight;
  }
  return patterns.back();
}

// ---- leaves

std::string Expressions::leaf(ValueType type) {
  if (choices_->percent(15)) {
    if (!type.is_vector()) return literal(type);
    if (has_packed_integers(type)) return type.name() + "(" + literal(type.element()) + ")";
    return type.name() + (choices_->percent(50) ? "(" + literal(type.element()) + ")"
                                                : "{" + placeholder("constants", type, 0) + "}");
  }
  return variable_leaf(type);
}

std::string Expressions::variable_leaf(ValueType type) {
  std::vector<const Variable*> candidates;
  for (const Variable& variable : scope_->variables)
    if (offers(variable, type) &&
        (scope_->uniformity == Uniformity::divergent || variable.uniformity == Uniformity::uniform))
      candidates.push_back(&variable);
  if (candidates.empty() || choices_->percent(10)) return converted_leaf(type);
  return read(*choices_->one_of(candidates), type);
}

std::string Expressions::converted_leaf(ValueType type) {
  if (type.is_vector()) return type.name() + "(" + variable_leaf(type.element()) + ")";
  std::vector<const Variable*> candidates;
  for (const Variable& variable : scope_->variables) {
    if (scope_->uniformity == Uniformity::uniform && variable.uniformity != Uniformity::uniform) continue;
    if (variable.type.is_vector() || variable.type.is_floating()) continue;
    if (type.is_floating() && type.bits == 16 && variable.type.bits > 16) continue;
    candidates.push_back(&variable);
  }
  if (candidates.empty()) return literal(type);
  const Variable& variable = *choices_->one_of(candidates);
  return type.name() + "(" + read(variable, variable.type) + ")";
}

std::string Expressions::read(const Variable& variable, ValueType type) {
  std::string result = variable.name;
  if (variable.is_array()) result += "[" + index(variable.elements, 1) + "]";
  if (variable.type == type) return result;
  if (type.is_vector()) return result + "." + std::string(choices_->one_of(std::array{"xy"sv, "zw"sv, "wx"sv, "yy"sv}));
  if (choices_->percent(25)) return result + "[" + index(variable.type.lanes, 1) + "]";
  return result + "." + "xyzw"[choices_->below(variable.type.lanes)];
}

std::string Expressions::index(std::uint32_t elements, unsigned depth) {
  if (choices_->percent(30)) return std::to_string(choices_->below(elements));
  const std::string place = value(types::u32, depth);
  return place + " & " + std::to_string(elements - 1);
}

std::string Expressions::hidden_index(std::uint32_t elements, unsigned depth) {
  if (choices_->percent(30)) return std::to_string(choices_->below(elements));
  return "hide(" + value(types::u32, depth) + ", zero) & " + std::to_string(elements - 1);
}

std::string Expressions::literal(ValueType type) {
  if (type.is_floating()) {
    constexpr std::array common = {"0.0f"sv, "-0.0f"sv, "0.5f"sv, "-0.5f"sv, "1.0f"sv,    "-1.0f"sv, "2.0f"sv,
                                   "4.0f"sv, "-4.0f"sv, "3.0f"sv, "0.1f"sv,  "100.25f"sv, "6e4f"sv,  "1e-5f"sv};
    constexpr std::array wide = {"1e10f"sv,  "-2.5e30f"sv,         "1e-30f"sv,
                                 "1e-40f"sv, "__builtin_inff()"sv, "16777217.0f"sv};
    const bool is_wide = type.bits != 16 && choices_->percent(20);
    return type.name() + "(" + std::string(is_wide ? choices_->one_of(wide) : choices_->one_of(common)) + ")";
  }
  const std::uint64_t power = std::uint64_t{1} << choices_->below(type.bits);
  std::uint64_t number = 0;
  switch (choices_->below(8)) {
  case 0:
  case 1:
  case 2:
    number = choices_->below(17);
    break;
  case 3:
    number = 0 - choices_->between(1, 16);
    break;
  case 4:
    number = power;
    break;
  case 5:
    number = power - 1;
    break;
  case 6:
    number = 0 - power;
    break;
  default:
    number = choices_->bits();
  }
  return type.name() + "(" + std::to_string(type.bits == 64 ? number : number & ((std::uint64_t{1} << type.bits) - 1)) +
         "u)";
}

// ---- patterns

std::string Expressions::expand(const Pattern& pattern, ValueType type, unsigned depth) {
  std::string result;
  std::string_view rest = pattern.text;
  while (!rest.empty()) {
    const std::size_t open = rest.find('{');
    result += rest.substr(0, open);
    if (open == rest.npos) break;
    rest.remove_prefix(open + 1);
    if (rest.starts_with('{')) {  // T{{elements}}: the list is in braces itself
      result += '{';
      continue;
    }
    const std::size_t close = rest.find('}');
    result += placeholder(rest.substr(0, close), type, depth);
    rest.remove_prefix(close + 1);
  }
  return result;
}

std::string Expressions::placeholder(std::string_view name, ValueType type, unsigned depth) {
  if (name == "t") return value(type, depth);
  if (name == "e") return value(type.element(), depth);
  if (name == "u") return value(type.as_unsigned(), depth);
  if (name == "variable") return variable_leaf(type);
  if (name == "T") return type.name();
  if (name == "E") return type.element().name();
  if (name == "U") return type.as_unsigned().name();
  if (name == "integer") return value(choices_->one_of(types::integers), depth);
  if (name == "small") return value(choices_->one_of(types::small_integers), depth);
  if (name == "real") return value(choices_->one_of(types::reals), depth);
  if (name == "same bits") return value(same_bits(type), depth);
  if (name == "converted") return value(converts_to(type), depth);
  if (name == "condition") return condition(depth);
  if (name == "compared") return compared(depth);
  if (name == "call") return any_call(depth);
  if (name == "elements" && has_packed_integers(type))
    return list(type.lanes, [&] { return "hide(" + value(type.element(), depth) + ", zero)"; });
  if (name == "elements") return list(type.lanes, [&] { return value(type.element(), depth); });
  if (const auto named = type_named(name)) return value(*named, depth);
  return constant(name, type);
}

std::string Expressions::constant(std::string_view name, ValueType type) {
  if (name == "comparison")
    return std::string(choices_->one_of(std::array{"<"sv, "<="sv, ">"sv, ">="sv, "=="sv, "!="sv}));
  if (name == "literal") return literal(type.element());
  if (name == "positive") return type.name() + "(" + std::to_string(choices_->between(2, 127)) + ")";
  if (name == "shift") return std::to_string(choices_->below(type.bits));
  if (name == "mask") return std::to_string((1U << choices_->between(1, std::min(type.bits - 1, 31U))) - 1);
  if (name == "constants" && has_packed_integers(type))
    return list(type.lanes, [&] { return std::to_string(choices_->between(1, 0x7fff)); });
  if (name == "constants") return list(type.lanes, [&] { return literal(type.element()); });
  if (name == "shuffle") return list(type.lanes, [&] { return std::to_string(choices_->below(2 * type.lanes)); });
  if (name == "field") {
    const std::size_t first = choices_->below(type.bits);
    return std::to_string(first) + ", " + std::to_string(choices_->between(1, type.bits - first));
  }
  throw std::logic_error("a pattern has {" + std::string(name) + "}, which stands for nothing");
}

std::string Expressions::compared(unsigned depth) {
  const ValueType type = choices_->one_of(types::scalars);
  std::string result = "(" + value(type, depth);
  result += " " + constant("comparison", type) + " ";
  return result + value(type, depth) + ")";
}

std::string Expressions::any_call(unsigned depth) {
  std::vector<const Function*> callable;
  for (const Function& function : scope_->functions)
    if (!function.array || array_like(*function.array) != nullptr) callable.push_back(&function);
  if (callable.empty() || scope_->uniformity == Uniformity::uniform) return value(types::i32, depth);
  const Function& function = *choices_->one_of(callable);
  std::string result = function.name + "(seed, item";
  for (const ValueType parameter : function.parameters) result += ", " + value(parameter, depth);
  if (function.array) result += ", " + array_like(*function.array)->name;
  result += ")";
  if (function.type.is_vector()) result += ".y";
  return function.type.is_floating() ? "bits_of(" + result + ")" : result;
}

const Variable* Expressions::array_like(const Function::Array& array) const {
  for (const Variable& variable : scope_->variables)
    if (variable.type == array.type && variable.elements == array.elements && variable.access == Access::write)
      return &variable;
  return nullptr;
}

ValueType Expressions::same_bits(ValueType type) {
  std::vector<ValueType> candidates;
  for (const ValueType candidate : types::integers)
    if (candidate.bits == type.all_bits()) candidates.push_back(candidate);
  for (const ValueType candidate : types::vectors)
    if (candidate.is_integer() && candidate.all_bits() == type.all_bits()) candidates.push_back(candidate);
  return choices_->one_of(candidates);
}

// Floating-point numbers do not become integers here, because their range needs care. They do not become halves by way
// of another type, because this would round twice.
ValueType Expressions::converts_to(ValueType type) {
  std::vector<ValueType> candidates;
  for (const ValueType candidate : types::vectors) {
    if (candidate.lanes != type.lanes || (candidate.is_floating() && type.is_integer())) continue;
    if (candidate.is_integer() && candidate.bits > 16 && type.is_floating() && type.bits == 16) continue;
    candidates.push_back(candidate);
  }
  return choices_->one_of(candidates);
}

}  // namespace random_programs
