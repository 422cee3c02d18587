// A vector instruction with its operands chosen: how that assembles, and what it does to the state.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data_parallel.hpp"
#include "vector_instruction.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {

/// Where a form has its operands. Sources are in v0, v2, v4 or s4, s6, s8 (and the register after), the result goes to
/// v8.
inline constexpr unsigned first_source_sgpr = 4;
inline constexpr unsigned result_vgpr = 8;
inline constexpr unsigned mask_in_sgpr = 12;
inline constexpr unsigned mask_out_sgpr = 16;

struct VectorForm {
  std::string suffix = {};  ///< "_e32", "_e64", "_sdwa", "_dpp", or nothing
  std::vector<VectorOperand> sources = {};
  unsigned result = result_vgpr;
  bool mask_in_vcc = true;
  bool mask_out_vcc = true;
  bool clamp = false;
  Select select = Select::dword;
  Unused unused = Unused::pad;
  std::optional<Dpp> dpp = {};
  bool result_in_high_half = false;    ///< op_sel of the destination
  std::vector<bool> high_halves = {};  ///< op_sel of the sources; empty when the form has none
};

/// v0 * constant + v2 or, with the constant `last`, v0 * v2 + constant.
[[nodiscard]] VectorForm multiply_add_form(Type type, const VectorOperand& constant, bool last);

[[nodiscard]] std::string assembly_of(const VectorInstruction& instruction, const VectorForm& form);
[[nodiscard]] Case case_of(const VectorInstruction& instruction, const VectorForm& form);

}  // namespace softgpu::isa
