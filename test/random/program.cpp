#include "program.hpp"

#include <array>

#include "choices.hpp"
#include "prelude.hpp"
#include "scope.hpp"
#include "statements.hpp"

namespace random_programs {
namespace {

constexpr int kernel_budget = 90;
constexpr int function_budget = 20;

constexpr std::array array_types = {types::i16, types::u16, types::i32,
                                    types::u32, types::f32, types::vector(types::u16, 2)};
// LLVM 15 keeps arrays of up to 16 elements in registers, and compiles these types wrongly there: see
// docs/random_programs.md.
constexpr std::array long_array_types = {types::u8, types::i8, types::u64, types::i64};
constexpr std::uint32_t long_array_elements = 32;
constexpr Function::Array shared_array{.type = types::u32, .elements = 8};

class Program {
public:
  explicit Program(std::uint64_t seed) : choices_(seed) {}

  std::string write(unsigned kernels) {
    text_ = prelude;
    add_tables();
    add_record();
    for (std::size_t i = choices_.below(3); i != 0; --i) add_function();
    for (unsigned kernel = 0; kernel != kernels; ++kernel) add_kernel(std::to_string(kernel));
    return std::move(text_);
  }

private:
  void add_tables() {
    Expressions expressions(choices_, globals_);
    for (std::size_t i = choices_.below(3); i != 0; --i) {
      const ValueType type = choices_.one_of(types::integers);
      const std::string name = "table_" + std::to_string(i);
      const std::uint32_t elements = 4U << choices_.below(3);
      text_ += "\nCONSTANT static const " + type.name() + " " + name + "[" + std::to_string(elements) + "] = {";
      for (std::uint32_t element = 0; element != elements; ++element)
        text_ += (element == 0 ? "" : ", ") + expressions.literal(type);
      text_ += "};\n";
      globals_.variables.push_back({.name = name,
                                    .type = type,
                                    .uniformity = Uniformity::uniform,
                                    .access = Access::read,
                                    .elements = elements});
    }
  }

  void add_record() {
    text_ += "\nstruct Record {\n";
    for (std::size_t i = choices_.between(2, 4); i != 0; --i) {
      const ValueType type = any_type(choices_);
      const std::string name = "field_" + std::to_string(i);
      text_ += "  " + type.name() + " " + name + ";\n";
      fields_.push_back({.name = name, .type = type});
    }
    text_ += "};\n";
  }

  // The fields are variables like others; copies of all of them go back and forth.
  void declare_records(Statements& statements, Scope& scope) {
    Expressions expressions(choices_, scope);
    for (const std::string name : {"record_a", "record_b"}) {
      statements.line("Record " + name + "{};");
      for (const Variable& field : fields_) {
        const std::string value = expressions.value(field.type, 1);
        statements.line(name + "." + field.name + " = " + value + ";");
      }
      for (const Variable& field : fields_)
        scope.variables.push_back({.name = name + "." + field.name, .type = field.type});
    }
  }

  void add_function() {
    Function function{.name = "helper_" + std::to_string(globals_.functions.size())};
    function.type = any_type(choices_);
    Scope scope = globals_;
    scope.budget = function_budget;
    std::string head = "\nNOINLINE " + function.type.name() + " " + function.name + "(u64 seed, u32 item";
    for (std::size_t i = choices_.between(1, 4); i != 0; --i) {
      const ValueType type = any_type(choices_);
      const std::string name = "parameter_" + std::to_string(i);
      function.parameters.push_back(type);
      scope.variables.push_back({.name = name, .type = type});
      head += ", " + type.name() + " " + name;
    }
    if (choices_.percent(40)) {
      function.array = shared_array;
      scope.variables.push_back({.name = "values", .type = shared_array.type, .elements = shared_array.elements});
      head += ", " + shared_array.type.name() + " (&values)[" + std::to_string(shared_array.elements) + "]";
    }
    Expressions expressions(choices_, scope);
    Statements statements(choices_, scope, "return " + expressions.value(function.type, 0));
    statements.line("const u64 zero = unknown_zero(seed);");
    statements.fill();
    scope.budget = 5;
    statements.line("return " + expressions.value(function.type, 2) + ";");
    text_ += head + ") {\n" + statements.text() + "}\n";
    globals_.functions.push_back(std::move(function));
  }

  void add_kernel(const std::string& number) {
    Scope scope = globals_;
    Statements statements(choices_, scope, "return all(result)");
    statements.line("const u64 zero = unknown_zero(seed);");
    statements.line("Result result{u32(item), u32(seed)};");
    scope.uniformity = Uniformity::uniform;
    for (std::size_t i = choices_.between(1, 3); i != 0; --i)
      statements.declare_started(choices_.one_of(types::integers));
    scope.uniformity = Uniformity::divergent;
    for (std::size_t i = choices_.between(3, 7); i != 0; --i)
      statements.declare_started(choices_.one_of(types::scalars));
    for (std::size_t i = choices_.between(1, 4); i != 0; --i) statements.declare_started(any_vector(choices_));
    if (needs_shared_array()) statements.declare_array(shared_array.type, shared_array.elements);
    if (choices_.percent(35)) {
      const ValueType type = choices_.one_of(array_types);
      statements.declare_array(type, 4U << choices_.below(3));
    }
    if (choices_.percent(15)) statements.declare_array(choices_.one_of(long_array_types), long_array_elements);
    if (choices_.percent(25)) declare_records(statements, scope);
    const std::vector<Variable> results = scope.variables;
    for (unsigned part = 0; part != 3; ++part) {
      scope.budget = kernel_budget / 3;
      statements.fill();
      mix_one(statements, results);
    }
    finish_kernel(statements, results, number);
  }

  // A function may return early: its values until then must count.
  void mix_one(Statements& statements, const std::vector<Variable>& results) {
    const Variable& variable = choices_.one_of(results);
    if (!variable.is_array() && !variable.type.is_vector()) statements.line("mix(result, " + variable.name + ");");
  }

  void finish_kernel(Statements& statements, const std::vector<Variable>& results, const std::string& number) {
    for (const Variable& variable : results) {
      if (variable.is_array() && variable.access == Access::read) continue;
      if (variable.is_array()) {
        const std::string lanes = variable.type.is_vector() ? "[i].x" : "[i]";
        const std::string step = std::to_string(variable.elements > 16 ? 3 : 1);
        statements.line("for (u32 i = 0; i < " + std::to_string(variable.elements) + "; i += " + step +
                        ") mix(result, " + variable.name + lanes + ");");
        continue;
      }
      for (unsigned lane = 0; lane != variable.type.lanes; ++lane) {
        const std::string element = variable.type.is_vector() ? std::string(".") + "xyzw"[lane] : "";
        statements.line("mix(result, " + std::string(element.empty() ? "" : variable.type.element().name()) + "(" +
                        variable.name + element + "));");
      }
    }
    text_ += "\nINLINE u64 function_" + number + "(u64 seed, u32 item) {\n" + statements.text() +
             "  return all(result);\n}\n";
    text_ += "#if defined(__HIP__)\nKERNEL void kernel_" + number +
             "(u64* out, u64 seed) {\n"
             "  const u32 item = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +\n"
             "                   __builtin_amdgcn_workitem_id_x();\n"
             "  out[item] = function_" +
             number + "(seed, item);\n}\n#else\n";
    text_ += "extern \"C\" void host_" + number +
             "(u64* out, u64 seed, u32 items) {\n"
             "  for (u32 item = 0; item != items; ++item) out[item] = function_" +
             number + "(seed, item);\n}\n#endif\n";
  }

  [[nodiscard]] bool needs_shared_array() const {
    for (const Function& function : globals_.functions)
      if (function.array) return true;
    return false;
  }

  Choices choices_;
  std::string text_;
  Scope globals_;  // what all functions see
  std::vector<Variable> fields_;
};

}  // namespace

std::string program(std::uint64_t seed, unsigned kernels) { return Program(seed).write(kernels); }

}  // namespace random_programs
