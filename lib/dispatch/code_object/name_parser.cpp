#include "dispatch/code_object/name_parser.hpp"

#include <string>
#include <utility>

namespace fastdispatch::detail {
namespace {

constexpr std::size_t max_length = 1U << 13U;

// Literals of these types are written as numbers with a suffix.
std::string_view suffix_of(char type) {
  switch (type) {
  case 'j':
    return "u";
  case 'l':
    return "l";
  case 'm':
    return "ul";
  case 'x':
    return "ll";
  case 'y':
    return "ull";
  default:
    return "";
  }
}

}  // namespace

NameParser::NameParser(NameTree& tree, std::string_view mangled) : tree_(tree), rest_(mangled) {
  if (mangled.size() > max_length) throw NotUnderstood();
}

bool NameParser::take(std::string_view token) {
  if (!rest_.starts_with(token)) return false;
  rest_.remove_prefix(token.size());
  return true;
}

void NameParser::expect(std::string_view token) {
  if (!take(token)) throw NotUnderstood();
}

std::size_t NameParser::number() {
  if (!is_digit(peek())) throw NotUnderstood();
  std::size_t value = 0;
  while (is_digit(peek())) {
    value = value * 10 + static_cast<std::size_t>(peek() - '0');
    if (value > max_length) throw NotUnderstood();
    rest_.remove_prefix(1);
  }
  return value;
}

// "_" is 0, "0_" is 1, and so on.
std::size_t NameParser::sequence_number(unsigned base) {
  if (take("_")) return 0;
  std::size_t value = 0;
  do {
    const char c = peek();
    const unsigned digit = is_digit(c) ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'A') + 10;
    if (digit >= base) throw NotUnderstood();
    value = value * base + digit;
    if (value > max_length) throw NotUnderstood();
    rest_.remove_prefix(1);
  } while (peek() != '_');
  expect("_");
  return value + 1;
}

NameId NameParser::remember(NameId id) {
  substitutions_.push_back(id);
  return id;
}

FunctionNode NameParser::function() {
  expect("_Z");
  return encoding();
}

FunctionNode NameParser::encoding() {
  const Nesting nesting(nesting_);
  const FunctionName function = name();
  if (peek() == 'E') return {.name = function.id, .parameters = {}, .has_parameters = false};
  if (function.is_instance) static_cast<void>(type());
  return {.name = function.id, .parameters = parameters()};
}

// Up to the end of the function.
std::vector<NameId> NameParser::parameters() {
  if (take("v")) return {};
  std::vector<NameId> types;
  do types.push_back(type());
  while (!rest_.empty() && peek() != 'E' && peek() != '.');
  return tree_.flat(types);
}

NameParser::FunctionName NameParser::name() {
  const Nesting nesting(nesting_);
  if (peek() == 'N') return nested_name();
  if (peek() == 'Z') return local_name();
  NameId name{};
  if (peek() == 'S' && peek(1) != 't') {
    name = substitution();
    if (peek() != 'I') throw NotUnderstood();
  } else {
    name = take("St") ? standard_name("") : unqualified_name();
    if (peek() != 'I') return {.id = name, .is_instance = false};
    remember(name);
  }
  return {.id = instance(name, true), .is_instance = true};
}

NameParser::FunctionName NameParser::nested_name() {
  expect("N");
  while (take("r") || take("V") || take("K") || take("R") || take("O")) continue;
  FunctionName so_far;
  bool has_prefix = false;
  bool remembered = false;
  while (!take("E")) {
    remembered = true;
    if (has_prefix && peek() == 'I') {
      so_far = {.id = remember(instance(so_far.id, true)), .is_instance = true};
      continue;
    }
    so_far.is_instance = false;
    if (has_prefix) {
      so_far.id = remember(tree_.add({.kind = NameKind::scoped, .children = {so_far.id, unqualified_name()}}));
    } else if (peek() == 'S' && peek(1) != 't') {
      so_far.id = substitution();
      remembered = false;
    } else if (peek() == 'T') {
      so_far.id = remember(template_parameter());
    } else {
      so_far.id = remember(take("St") ? standard_name("") : unqualified_name());
    }
    has_prefix = true;
  }
  // The caller remembers the whole name if it is a type.
  if (!remembered) throw NotUnderstood();
  substitutions_.pop_back();
  return so_far;
}

NameParser::FunctionName NameParser::local_name() {
  expect("Z");
  const FunctionNode function = encoding();
  expect("E");
  NameId scope = function.name;
  if (function.has_parameters) {
    std::vector<NameId> call{function.name};
    call.insert(call.end(), function.parameters.begin(), function.parameters.end());
    scope = tree_.add({.kind = NameKind::call, .children = std::move(call)});
  }
  FunctionName entity;
  if (take("s")) {
    entity.id = tree_.text("string literal");
  } else {
    if (take("d")) static_cast<void>(sequence_number(10));
    entity = name();
  }
  if (take("__")) {
    static_cast<void>(number());
    expect("_");
  } else if (peek() == '_' && is_digit(peek(1))) {
    rest_.remove_prefix(2);
  }
  entity.id = tree_.add({.kind = NameKind::scoped, .children = {scope, entity.id}});
  return entity;
}

NameId NameParser::unqualified_name() {
  if (peek() == 'L' && is_digit(peek(1))) rest_.remove_prefix(1);  // of internal linkage
  NameId name{};
  if (is_digit(peek())) {
    name = source_name();
  } else if (peek() == 'U') {
    name = unnamed_type();
  } else {
    expect("cl");
    name = tree_.text("operator()");
  }
  while (take("B")) {  // ABI tags
    const NameId tag = source_name();
    name = tree_.text(tree_[name].text + "[abi:" + tree_[tag].text + "]");
  }
  return name;
}

NameId NameParser::source_name() {
  const std::size_t length = number();
  if (length == 0 || length > rest_.size()) throw NotUnderstood();
  const std::string_view name = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return tree_.text(name.starts_with("_GLOBAL__N") ? "(anonymous namespace)" : name);
}

NameId NameParser::unnamed_type() {
  const auto numbered = [&](std::string_view what) {
    std::string text("{");
    text.append(what).append("#").append(std::to_string(sequence_number(10) + 1)).append("}");
    return tree_.text(text);
  };
  if (take("Ut")) return numbered("unnamed type");
  expect("Ul");
  const bool outer = std::exchange(in_lambda_, true);
  std::vector<NameId> call{tree_.text("lambda")};
  for (const NameId type : parameters()) call.push_back(type);
  in_lambda_ = outer;
  expect("E");
  const NameId lambda = tree_.add({.kind = NameKind::call, .children = std::move(call)});
  return numbered(text_of(tree_, lambda));
}

NameId NameParser::instance(NameId name, bool of_function) {
  const Nesting nesting(nesting_);
  expect("I");
  std::vector<NameId> children{name};
  while (!take("E")) children.push_back(template_argument());
  if (of_function) template_arguments_.assign(children.begin() + 1, children.end());
  return tree_.add({.kind = NameKind::instance, .children = std::move(children)});
}

NameId NameParser::template_argument() {
  const Nesting nesting(nesting_);
  if (peek() == 'L') return literal();
  if (!take("J")) return type();
  std::vector<NameId> elements;
  while (!take("E")) elements.push_back(template_argument());
  return tree_.add({.kind = NameKind::list, .children = std::move(elements)});
}

NameId NameParser::literal() {
  expect("L");
  if (take("_Z")) {  // a function or a variable
    std::vector<NameId> of_function = template_arguments_;
    const FunctionName function = name();
    if (peek() != 'E') {
      if (function.is_instance) static_cast<void>(type());
      static_cast<void>(parameters());
    }
    template_arguments_ = std::move(of_function);
    expect("E");
    return function.id;
  }
  const char code = peek();
  const NameId of_type = type();
  const std::size_t end = rest_.find('E');
  if (end == std::string_view::npos) throw NotUnderstood();
  std::string value(rest_.substr(0, end));
  rest_.remove_prefix(end + 1);
  if (value.starts_with("n")) value[0] = '-';
  if (code == 'b' && (value == "0" || value == "1")) return tree_.text(value == "1" ? "true" : "false");
  if (code == 'i' || !suffix_of(code).empty()) return tree_.text(value.append(suffix_of(code)));
  return tree_.add({.kind = NameKind::literal, .text = std::move(value), .children = {of_type}});
}

NameId NameParser::template_parameter() {
  expect("T");
  const std::size_t number = sequence_number(10);
  if (in_lambda_) return tree_.text("auto");
  if (number >= template_arguments_.size()) throw NotUnderstood();
  const NameId argument = template_arguments_[number];
  if (tree_[argument].kind != NameKind::list) return argument;
  return tree_.add({.kind = NameKind::pack, .children = tree_[argument].children});
}

// Of "std::" and what it stands before.
NameId NameParser::standard_name(std::string_view name) {
  const NameId scope = tree_.text("std");
  const NameId inner = name.empty() ? unqualified_name() : tree_.text(name);
  return tree_.add({.kind = NameKind::scoped, .children = {scope, inner}});
}

NameId NameParser::substitution() {
  expect("S");
  if (take("a")) return standard_name("allocator");
  if (take("b")) return standard_name("basic_string");
  if (take("s")) return standard_name("string");
  if (take("i")) return standard_name("istream");
  if (take("o")) return standard_name("ostream");
  if (take("d")) return standard_name("iostream");
  const std::size_t number = sequence_number(36);
  if (number >= substitutions_.size()) throw NotUnderstood();
  return substitutions_[number];
}

}  // namespace fastdispatch::detail
