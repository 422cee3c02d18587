// Random statements: the bodies of functions.
#pragma once

#include <string>

#include "choices.hpp"
#include "expressions.hpp"
#include "scope.hpp"

namespace random_programs {

/// Writes the body of one function, whose parameters `seed` and `item` are there already.
class Statements {
public:
  /// `result` is the return statement's text without the semicolon; a function can return early with it.
  Statements(Choices& choices, Scope& scope, std::string result)
      : choices_(&choices), scope_(&scope), expressions_(choices, scope), return_(std::move(result)) {}

  /// A variable of the type, with a value made of seed and item.
  void declare_started(ValueType type);
  /// An array whose values are made of seed and item; its elements are a power of two.
  std::string declare_array(ValueType type, std::uint32_t elements);
  /// Adds statements until the budget is used up.
  void fill();
  /// Adds a line.
  void line(const std::string& text);

  [[nodiscard]] const std::string& text() const { return text_; }

private:
  void statement();
  void block(unsigned count);
  void assign();
  void declare();
  void branch();
  void loop();
  void counted_loop(const std::string& counter);
  void conditional_loop(const std::string& counter);
  void choice();
  void accumulate_uniformly();
  void return_early();
  void leave_loop();
  void open(const std::string& head);
  void close(const std::string& tail = "}");
  [[nodiscard]] std::string trips();
  [[nodiscard]] std::string started(ValueType type);
  [[nodiscard]] std::string fresh(const std::string& prefix);
  [[nodiscard]] std::string target(const Variable& variable);

  Choices* choices_;
  Scope* scope_;
  Expressions expressions_;
  std::string return_;
  std::string text_;
  unsigned depth_ = 0;     // of blocks
  unsigned loops_ = 0;     // around the statement
  unsigned switches_ = 0;  // around the statement, within the innermost loop
  unsigned names_ = 0;
};

}  // namespace random_programs
