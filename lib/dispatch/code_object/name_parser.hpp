// Reads mangled C++ names: the grammar of the Itanium C++ ABI, chapter 5.1, as far as names of kernels and types of
// their parameters use it. Names with expressions, conversion operators or constructors are not understood.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "dispatch/code_object/name_tree.hpp"

namespace fastdispatch::detail {

struct FunctionNode {
  NameId name;
  std::vector<NameId> parameters;
  bool has_parameters = true;  // false for main and extern "C", where their local types are named
};

// Reads one text; the nodes are put into the tree. Every member throws NotUnderstood.
class NameParser {
public:
  NameParser(NameTree& tree, std::string_view mangled);

  // Of "_Z4sortPjj". What stands behind, such as ".static.1f3a", stays in rest().
  [[nodiscard]] FunctionNode function();
  // Of "Pj", as type_info::name() has it.
  [[nodiscard]] NameId type();
  [[nodiscard]] std::string_view rest() const { return rest_; }

private:
  // Limits how deep the parser's functions call each other.
  class Nesting {
  public:
    explicit Nesting(std::size_t& depth) : depth_(depth) {
      if (depth_ == max_nesting) throw NotUnderstood();
      ++depth_;
    }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    ~Nesting() { --depth_; }

  private:
    static constexpr std::size_t max_nesting = 128;
    std::size_t& depth_;
  };
  // What the caller has to know of a function's name.
  struct FunctionName {
    NameId id = 0;
    bool is_instance = false;  // of a template: a return type follows, and T_ means its arguments
  };

  [[nodiscard]] static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  [[nodiscard]] char peek(std::size_t i = 0) const { return i < rest_.size() ? rest_[i] : '\0'; }
  bool take(std::string_view token);
  void expect(std::string_view token);
  [[nodiscard]] std::size_t number();
  [[nodiscard]] std::size_t sequence_number(unsigned base);

  [[nodiscard]] FunctionNode encoding();
  [[nodiscard]] std::vector<NameId> parameters();
  [[nodiscard]] FunctionName name();
  [[nodiscard]] FunctionName nested_name();
  [[nodiscard]] FunctionName local_name();
  [[nodiscard]] NameId unqualified_name();
  [[nodiscard]] NameId source_name();
  [[nodiscard]] NameId unnamed_type();

  [[nodiscard]] NameId built_in_type();
  [[nodiscard]] NameId qualified_type();
  [[nodiscard]] NameId function_type();
  [[nodiscard]] NameId array_type();
  [[nodiscard]] NameId type_with_d();
  [[nodiscard]] NameId class_type();

  [[nodiscard]] NameId instance(NameId name, bool of_function);
  [[nodiscard]] NameId template_argument();
  [[nodiscard]] NameId literal();
  [[nodiscard]] NameId template_parameter();
  [[nodiscard]] NameId substitution();
  [[nodiscard]] NameId standard_name(std::string_view name);
  NameId remember(NameId id);

  NameTree& tree_;
  std::string_view rest_;
  std::vector<NameId> substitutions_;
  std::vector<NameId> template_arguments_;  // of the function: what T_ means
  std::size_t nesting_ = 0;
  bool in_lambda_ = false;  // whose T_ are its parameters of type auto
};

}  // namespace fastdispatch::detail
