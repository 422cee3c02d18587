#include "statements.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace random_programs {
namespace {

constexpr unsigned expression_depth = 3;
constexpr unsigned block_depth = 4;

}  // namespace

// ---- text

void Statements::line(const std::string& text) { text_ += std::string(2 * (depth_ + 1), ' ') + text + "\n"; }

void Statements::open(const std::string& head) {
  line(head + " {");
  ++depth_;
}

void Statements::close(const std::string& tail) {
  --depth_;
  line(tail);
}

std::string Statements::fresh(const std::string& prefix) { return prefix + "_" + std::to_string(names_++); }

// ---- variables

std::string Statements::started(ValueType type) {
  const bool uniform = scope_->uniformity == Uniformity::uniform;
  const auto start = [&] {
    std::string result = "start(seed, " + std::string(uniform ? "0" : "item") + ", ";
    return result + std::to_string(choices_->below(100)) + ")";
  };
  const auto shifted = [&] {
    const std::string shift = choices_->percent(50) ? "0" : std::to_string(choices_->below(31));
    return start() + " >> " + shift;
  };
  const std::string name = type.name();
  if (type.is_vector()) {
    const std::string word = fresh("word");
    line("const u32 " + word + " = " + start() + ";");
    std::string result = name + "{";
    for (unsigned lane = 0; lane != type.lanes; ++lane) {
      if (lane != 0) result += ", ";
      const std::string part = word + " >> " + std::to_string(lane * (type.bits == 8 ? 8 : 5));
      const std::string number = type.is_floating() ? "f32(i16(" + part + ")) * 0x1p-4f" : part;
      result += type.element().name() + "(" + number + ")";
    }
    return result + "}";
  }
  if (type.is_floating()) {
    const std::string number = type.bits == 16 ? "f32(i16(" + start() + "))" : name + "(i32(" + shifted() + "))";
    return name + "(" + number + " * 0x1p-" + std::to_string(choices_->below(24)) + "f)";
  }
  if (type.bits != 64) return name + "(" + shifted() + ")";
  const std::string upper = name + "(" + start() + ")";
  const std::string shift = std::to_string(choices_->below(40));
  return name + "(" + upper + " << " + shift + " ^ " + start() + ")";
}

void Statements::declare_started(ValueType type) {
  const std::string value = started(type);
  Variable variable{.name = fresh(type.name()), .type = type, .uniformity = scope_->uniformity};
  if (scope_->uniformity == Uniformity::uniform) variable.access = Access::read;
  line(type.name() + " " + variable.name + " = " + value + ";");
  scope_->variables.push_back(std::move(variable));
}

std::string Statements::declare_array(ValueType type, std::uint32_t elements) {
  std::string name = fresh("array");
  line(type.name() + " " + name + "[" + std::to_string(elements) + "];");
  line("for (u32 i = 0; i < " + std::to_string(elements) + "; ++i) " + name + "[i] = " + type.name() + "(item * " +
       std::to_string(choices_->bits() >> 33) + "u + i * u32(seed));");
  scope_->variables.push_back({.name = name, .type = type, .elements = elements});
  return name;
}

std::string Statements::target(const Variable& variable) {
  std::string result = variable.name;
  if (variable.is_array()) result += "[" + expressions_.hidden_index(variable.elements, 2) + "]";
  return result;
}

// ---- statements

void Statements::fill() {
  while (scope_->budget > 0) statement();
}

void Statements::block(unsigned count) {
  const std::size_t visible = scope_->variables.size();
  for (unsigned i = 0; i != count; ++i) statement();
  scope_->variables.resize(visible);
}

void Statements::statement() {
  --scope_->budget;
  const bool nested = depth_ < block_depth;
  const std::size_t kind = choices_->below(100);
  if (kind < 50) return assign();
  if (kind < 60) return declare();
  if (kind < 75 && nested) return branch();
  if (kind < 84 && nested) return loop();
  if (kind < 90 && nested) return choice();
  if (kind < 94 && depth_ == 0) return accumulate_uniformly();
  if (kind < 97 && loops_ != 0) return leave_loop();
  if (kind < 98 && depth_ != 0) return return_early();
  assign();
}

void Statements::assign() {
  std::vector<const Variable*> candidates;
  for (const Variable& variable : scope_->variables)
    if (variable.access == Access::write) candidates.push_back(&variable);
  if (candidates.empty()) return;
  const Variable variable = *choices_->one_of(candidates);
  const std::string left = target(variable);
  if (!variable.type.is_vector() || choices_->percent(70)) {
    line(left + " = " + expressions_.computed(variable.type, expression_depth) + ";");
    return;
  }
  // LLVM 15 stores two bytes of a vector where the index of one is not constant.
  const std::string place = variable.type.bits == 8 ? std::to_string(choices_->below(variable.type.lanes))
                                                    : expressions_.hidden_index(variable.type.lanes, 1);
  line(left + "[" + place + "] = " + expressions_.computed(variable.type.element(), expression_depth) + ";");
}

void Statements::declare() {
  const ValueType type = any_type(*choices_);
  const std::string value = expressions_.computed(type, expression_depth);
  const std::string name = fresh(type.name());
  line(type.name() + " " + name + " = " + value + ";");
  scope_->variables.push_back({.name = name, .type = type});
}

void Statements::branch() {
  const bool uniform = choices_->percent(15);
  if (uniform) scope_->uniformity = Uniformity::uniform;
  const std::string condition = expressions_.condition(2);
  scope_->uniformity = Uniformity::divergent;
  open("if (" + condition + ")");
  block(static_cast<unsigned>(choices_->between(1, 3)));
  if (choices_->percent(50)) {
    close("} else {");
    ++depth_;
    block(static_cast<unsigned>(choices_->between(1, 3)));
  }
  close();
}

std::string Statements::trips() {
  const bool uniform = choices_->percent(15);
  if (uniform) scope_->uniformity = Uniformity::uniform;
  std::string result = choices_->percent(50) ? "3 & (" : "7 & (";
  result += expressions_.value(types::u32, 2) + ")";
  scope_->uniformity = Uniformity::divergent;
  return result;
}

void Statements::loop() {
  const std::string counter = fresh("count");
  const unsigned switches = std::exchange(switches_, 0);
  ++loops_;
  if (choices_->percent(70)) {
    counted_loop(counter);
  } else {
    conditional_loop(counter);
  }
  --loops_;
  switches_ = switches;
}

// LLVM 15 treats a counter as the same in all work-items, even behind a loop that some of them left earlier. It does
// not know that this counter begins at zero.
void Statements::counted_loop(const std::string& counter) {
  const std::string head = "for (u32 " + counter + " = item >> 16; " + counter + " < ";
  if (choices_->percent(50)) {
    open(head + "(" + trips() + "); ++" + counter + ")");
  } else {
    const std::string limit = fresh("limit");
    line("const u32 " + limit + " = " + trips() + ";");
    open(head + limit + "; ++" + counter + ")");
  }
  scope_->variables.push_back({.name = counter, .type = types::u32, .access = Access::read});
  block(static_cast<unsigned>(choices_->between(1, 4)));
  scope_->variables.pop_back();
  close();
}

void Statements::conditional_loop(const std::string& counter) {
  line("u32 " + counter + " = 0;");
  const std::string limit = std::to_string(choices_->between(2, 9));
  const bool first = choices_->percent(50);
  const std::string condition = counter + "++ < " + limit + " && " + expressions_.condition(2);
  open(first ? "while (" + condition + ")" : "do");
  block(static_cast<unsigned>(choices_->between(1, 4)));
  close(first ? "}" : "} while (" + condition + ");");
}

void Statements::choice() {
  const std::size_t cases = choices_->between(2, 4);
  const std::string value = expressions_.value(choices_->percent(70) ? types::u32 : types::u64, 2);
  open("switch (7 & (" + value + "))");
  ++switches_;
  std::size_t label = choices_->below(2);
  for (std::size_t i = 0; i != cases; ++i, label += choices_->between(1, 2)) {
    open("case " + std::to_string(label) + ":");
    block(static_cast<unsigned>(choices_->between(1, 2)));
    if (choices_->percent(80)) line("break;");
    close();
  }
  if (choices_->percent(60)) {
    open("default:");
    block(static_cast<unsigned>(choices_->between(1, 2)));
    close();
  }
  --switches_;
  close();
}

// Scalar registers around a loop: control flow and values are the same in all work-items.
void Statements::accumulate_uniformly() {
  scope_->uniformity = Uniformity::uniform;
  const ValueType type = choices_->one_of(types::integers);
  const std::string name = fresh("uniform");
  line(type.name() + " " + name + " = " + expressions_.computed(type, expression_depth) + ";");
  scope_->variables.push_back({.name = name, .type = type, .uniformity = Uniformity::uniform, .access = Access::read});
  const std::string counter = fresh("count");
  const std::string limit = expressions_.value(types::u32, 2);
  open("for (u32 " + counter + " = 0; " + counter + " < (7 & (" + limit + ")); ++" + counter + ")");
  line(name + " = " + expressions_.computed(type, expression_depth) + ";");
  if (choices_->percent(40)) line("if (" + expressions_.condition(2) + ") break;");
  line(name + " = " + expressions_.computed(type, expression_depth) + ";");
  close();
  scope_->uniformity = Uniformity::divergent;
}

void Statements::leave_loop() {
  const std::string condition = expressions_.condition(2);
  line("if (" + condition + ") " + (switches_ == 0 && choices_->percent(50) ? "break;" : "continue;"));
}

void Statements::return_early() {
  const std::string condition = expressions_.condition(2);
  line("if (" + condition + ") " + return_ + ";");
}

}  // namespace random_programs
