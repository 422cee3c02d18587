// The part of NameParser that reads types.
#include <array>
#include <string>
#include <utility>

#include "dispatch/code_object/name_parser.hpp"

namespace fastdispatch::detail {
namespace {

struct BuiltIn {
  std::string_view code;
  std::string_view text;
  TypeClass type_class;
  std::uint32_t bytes;
};
constexpr std::array<BuiltIn, 33> built_ins{{
    {"v", "void", TypeClass::nothing, 0},
    {"b", "bool", TypeClass::integer, 1},
    {"c", "char", TypeClass::integer, 1},
    {"a", "signed char", TypeClass::integer, 1},
    {"h", "unsigned char", TypeClass::integer, 1},
    {"s", "short", TypeClass::integer, 2},
    {"t", "unsigned short", TypeClass::integer, 2},
    {"i", "int", TypeClass::integer, 4},
    {"j", "unsigned int", TypeClass::integer, 4},
    {"l", "long", TypeClass::integer, 8},
    {"m", "unsigned long", TypeClass::integer, 8},
    {"x", "long long", TypeClass::integer, 8},
    {"y", "unsigned long long", TypeClass::integer, 8},
    {"n", "__int128", TypeClass::integer, 16},
    {"o", "unsigned __int128", TypeClass::integer, 16},
    {"w", "wchar_t", TypeClass::integer, 4},
    {"Du", "char8_t", TypeClass::integer, 1},
    {"Ds", "char16_t", TypeClass::integer, 2},
    {"Di", "char32_t", TypeClass::integer, 4},
    {"f", "float", TypeClass::floating, 4},
    {"d", "double", TypeClass::floating, 8},
    {"e", "long double", TypeClass::unknown, 0},  // differs from target to target
    {"g", "__float128", TypeClass::floating, 16},
    {"Dh", "__fp16", TypeClass::floating, 2},
    {"DF16_", "_Float16", TypeClass::floating, 2},
    {"DF16b", "std::bfloat16_t", TypeClass::floating, 2},
    {"DF32_", "_Float32", TypeClass::floating, 4},
    {"DF64_", "_Float64", TypeClass::floating, 8},
    {"DF128_", "_Float128", TypeClass::floating, 16},
    {"Dn", "std::nullptr_t", TypeClass::unknown, 0},
    {"Da", "auto", TypeClass::unknown, 0},
    {"Dc", "decltype(auto)", TypeClass::unknown, 0},
    {"z", "...", TypeClass::unknown, 0},
}};

}  // namespace

NameId NameParser::built_in_type() {
  for (const BuiltIn& type : built_ins) {
    if (!take(type.code)) continue;
    return tree_.add({.text = std::string(type.text), .type_class = type.type_class, .bytes = type.bytes});
  }
  throw NotUnderstood();
}

NameId NameParser::type() {
  const Nesting nesting(nesting_);
  switch (peek()) {
  case 'U':
    if (peek(1) == 'l' || peek(1) == 't') return class_type();
    [[fallthrough]];
  case 'r':
  case 'V':
  case 'K':
    return remember(qualified_type());
  case 'P':
  case 'R':
  case 'O': {
    const std::string_view sign = take("P") ? "*" : take("R") ? "&" : (expect("O"), "&&");
    return remember(tree_.add({.kind = NameKind::pointer, .text = std::string(sign), .children = {type()}}));
  }
  case 'F':
    return remember(function_type());
  case 'A':
    return remember(array_type());
  case 'D':
    return type_with_d();
  case 'T': {
    if (take("Ts") || take("Tu") || take("Te")) return class_type();
    const NameId parameter = remember(template_parameter());
    return peek() == 'I' ? remember(instance(parameter, false)) : parameter;
  }
  case 'S': {
    if (peek(1) == 't') return class_type();
    const NameId type = substitution();
    return peek() == 'I' ? remember(instance(type, false)) : type;
  }
  case 'u':  // of one compiler only
    rest_.remove_prefix(1);
    return remember(source_name());
  case 'N':
  case 'Z':
    return class_type();
  default:
    return is_digit(peek()) ? class_type() : built_in_type();
  }
}

NameId NameParser::class_type() {
  std::vector<NameId> of_function = template_arguments_;
  const NameId type = name().id;
  template_arguments_ = std::move(of_function);
  return remember(type);
}

// All qualifiers together make one type.
NameId NameParser::qualified_type() {
  const Nesting nesting(nesting_);
  std::string qualifiers;
  if (take("U")) {  // of one compiler, such as AS1, a number of an address space
    const NameId qualifier = source_name();
    if (peek() == 'I') throw NotUnderstood();
    qualifiers = " " + tree_[qualifier].text;
    const bool more = peek() == 'U' || peek() == 'r' || peek() == 'V' || peek() == 'K';
    const NameId inner = more ? qualified_type() : type();
    return tree_.add({.kind = NameKind::qualified, .text = qualifiers, .children = {inner}});
  }
  if (take("r")) qualifiers += " __restrict__";
  if (take("V")) qualifiers += " volatile";
  if (take("K")) qualifiers += " const";
  return tree_.add({.kind = NameKind::qualified, .text = qualifiers, .children = {type()}});
}

NameId NameParser::function_type() {
  expect("F");
  take("Y");
  std::vector<NameId> children{type()};
  for (const NameId parameter : parameters()) children.push_back(parameter);
  expect("E");
  return tree_.add({.kind = NameKind::function, .children = std::move(children)});
}

NameId NameParser::array_type() {
  expect("A");
  std::string size;
  if (is_digit(peek())) size = std::to_string(number());
  expect("_");
  return tree_.add({.kind = NameKind::array, .text = size, .children = {type()}});
}

NameId NameParser::type_with_d() {
  if (take("Dp")) return remember(tree_.expanded(type()));
  if (take("Dv")) {
    const std::string size = std::to_string(number());
    expect("_");
    return remember(tree_.add({.kind = NameKind::vector, .text = size, .children = {type()}}));
  }
  if (take("Do")) return remember(function_type());  // noexcept
  return built_in_type();
}

}  // namespace fastdispatch::detail
