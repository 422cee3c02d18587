// Code that calls a function an instruction, as far as instructions have templates: little code, which LLVM compiles
// fast. The functions go to a module of their own, each once.
//
// Instructions that have none are emitted in place, as in optimized code.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/emit/instruction_template.hpp"

namespace softgpu::compute {

/// For one caller.
class TemplateCalls {
public:
  /// What the code of a template may wait for; empty where there is no code yet.
  using Find = std::function<std::optional<WaitsFor>(const std::string& name)>;

  /// `module` gets the functions that `find` does not find.
  TemplateCalls(const Target& target, const HandlerTable& handlers, const EmitOptions& options, llvm::Module& module,
                Find find);

  /// Emits a call of the instruction's function. Returns false, and emits nothing, where there can be no function.
  bool emit(Emitter& e, const RegisterMemory& registers, const Instruction& instruction, bool is_strict);

  /// All functions that were called, and what those that are new may wait for.
  [[nodiscard]] const std::set<std::string>& used() const { return used_; }
  [[nodiscard]] const std::map<std::string, WaitsFor>& made() const { return made_; }

private:
  [[nodiscard]] std::string name_of(const InstructionTemplate& which, std::uint32_t mode, bool is_strict) const;
  [[nodiscard]] std::optional<WaitsFor> made_or_found(const std::string& name, const InstructionTemplate& which,
                                                      std::uint32_t mode, bool is_strict);
  [[nodiscard]] WaitsFor define(const std::string& name, const InstructionTemplate& which, std::uint32_t mode,
                                bool is_strict);

  /// Where code of the module finds a constant.
  [[nodiscard]] llvm::Constant* place_of_constant(llvm::Module& module, std::uint32_t constant);

  Target target_;
  const HandlerTable& handlers_;
  EmitOptions options_;
  llvm::Module& module_;
  Find find_;
  std::set<std::string> used_;
  std::map<std::string, WaitsFor> made_;
  std::set<std::string> refused_;
  std::map<std::uint32_t, llvm::Constant*> constants_;  ///< of the code that calls
};

}  // namespace softgpu::compute
