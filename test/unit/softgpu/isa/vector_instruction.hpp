// A vector ALU instruction of the tables, and the cases made of it: every encoding it has, with operands of every kind.
#pragma once

#include <cstddef>
#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "harness.hpp"
#include "operation.hpp"

namespace softgpu::isa {

enum class Encoding { vop1, vop2, vop3, vopc };
enum class Form { e32, e64, sdwa, dpp, literal, scalar, constant, modifiers, clamp, in_place };

/// One row of a table.
struct VectorInstruction {
  std::string mnemonic;
  Operation operation;
  Encoding encoding;
  bool implicit_vcc = false;    ///< reads VCC without naming it
  bool writes_exec = false;     ///< v_cmpx: EXEC becomes the result too
  bool has_op_sel = false;      ///< VOP3 with a choice of halves for 16-bit operands
  std::set<Form> missing = {};  ///< forms that this instruction lacks though others of its encoding have them
  Tolerance tolerance = {};
  std::string suffix = {};  ///< of the assembly, such as a modifier under test
  /// Keeps operands in registers to where the manual defines a result. The old destination counts as the last source.
  std::function<u64(std::size_t source, u64 bits)> constrain = [](std::size_t /*source*/, u64 bits) { return bits; };

  [[nodiscard]] VectorInstruction without(std::set<Form> forms) const;
  [[nodiscard]] VectorInstruction within(Tolerance allowed) const;
  [[nodiscard]] VectorInstruction with_implicit_vcc() const;
  [[nodiscard]] VectorInstruction with_op_sel() const;
  [[nodiscard]] VectorInstruction constrained(std::function<u64(std::size_t source, u64 bits)> function) const;
  [[nodiscard]] VectorInstruction with_suffix(std::string text) const;
};

template <class F>
VectorInstruction vop1(std::string mnemonic, F function) {
  return {std::move(mnemonic), operation(function), Encoding::vop1};
}
template <class F>
VectorInstruction vop2(std::string mnemonic, F function) {
  return {std::move(mnemonic), operation(function), Encoding::vop2};
}
template <class F>
VectorInstruction vop3(std::string mnemonic, F function) {
  return {std::move(mnemonic), operation(function), Encoding::vop3};
}
template <class F>
VectorInstruction vopc(std::string mnemonic, F function) {
  VectorInstruction made{std::move(mnemonic), operation(function), Encoding::vopc};
  made.writes_exec = made.mnemonic.starts_with("v_cmpx");
  return made;
}

/// A name for GoogleTest: the mnemonic, with the suffix if there is one.
[[nodiscard]] std::string test_name(const VectorInstruction& instruction);
inline void PrintTo(const VectorInstruction& instruction, std::ostream* stream) { *stream << instruction.mnemonic; }

/// How thoroughly the sub-dword and data-parallel forms are tried.
enum class Depth { some, all };
[[nodiscard]] std::vector<Case> cases_of(const VectorInstruction& instruction, Depth depth = Depth::some);

}  // namespace softgpu::isa
