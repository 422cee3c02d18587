// A scalar ALU instruction of the tables, and the cases made of it. Its operation is a lambda as for vector
// instructions; WithMask is a result with SCC, Condition is SCC read, Old is the destination read.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "harness.hpp"
#include "operation.hpp"

namespace softgpu::isa {

enum class ScalarEncoding { sop1, sop2, sopc, sopk };

struct ScalarInstruction {
  std::string mnemonic;
  ScalarEncoding encoding;
  Operation operation;
  /// Keeps operands in registers to where the manual defines a result.
  std::function<u64(std::size_t source, u64 bits)> constrain = [](std::size_t /*source*/, u64 bits) { return bits; };

  [[nodiscard]] ScalarInstruction constrained(std::function<u64(std::size_t source, u64 bits)> function) const {
    ScalarInstruction made = *this;
    made.constrain = std::move(function);
    return made;
  }
};
inline void PrintTo(const ScalarInstruction& instruction, std::ostream* stream) { *stream << instruction.mnemonic; }

template <class F>
ScalarInstruction sop1(std::string mnemonic, F function) {
  return {std::move(mnemonic), ScalarEncoding::sop1, operation(function)};
}
template <class F>
ScalarInstruction sop2(std::string mnemonic, F function) {
  return {std::move(mnemonic), ScalarEncoding::sop2, operation(function)};
}
template <class F>
ScalarInstruction sopc(std::string mnemonic, F function) {
  return {std::move(mnemonic), ScalarEncoding::sopc, operation(function)};
}
/// The last source is the 16-bit immediate, extended as the parameter's type says: i32 with its sign, u32 with zeros.
/// The first one, if there are two, is the destination register.
template <class F>
ScalarInstruction sopk(std::string mnemonic, F function) {
  return {std::move(mnemonic), ScalarEncoding::sopk, operation(function)};
}

[[nodiscard]] std::vector<Case> cases_of(const ScalarInstruction& instruction);

/// Scalar instructions see one operand a wavefront, so they get this many times the states.
inline constexpr unsigned scalar_states = 6;

}  // namespace softgpu::isa
