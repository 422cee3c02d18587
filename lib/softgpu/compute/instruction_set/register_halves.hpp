// The halves of vector registers that instructions of 16 bits name from RDNA3 on ("true16" in LLVM).
//
// Encodings of 32 bits have 7 bits for such a register's number, and one for the half. Encodings of 64 bits have
// op_sel. LLVM before 19 takes v3.h of the former for v131, which LLVM 16 to 18 do not accept or call invalid, leaves
// op_sel of the latter out, and does not know v_mov_b16 and v_swap_b16. Later releases write v3.h; of v_cndmask_b16
// they write no op_sel.
//
// Source: RDNA3 ISA, "16-bit Math and VGPRs" and the microcode formats.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

/// Has op_sel tell the halves, as in VOP3: of each source, then of the destination. Register numbers are then those of
/// whole registers. `instruction` names its destination first, EXEC too.
void name_halves(Instruction& instruction);

/// Makes an instruction that LLVM may not know one that it knows, with the same operands; gives the name that it had.
[[nodiscard]] std::optional<std::string_view> replace_unknown_move(std::span<std::uint8_t> code);

/// The vector registers of VOP1, VOP2 and VOPC from v128 on, in code that LLVM does not take with them.
class HighRegisters {
public:
  /// Makes each the register of 128 less.
  explicit HighRegisters(std::span<std::uint8_t> code);
  [[nodiscard]] bool are_there() const;
  /// Gives the registers of the instruction, as LLVM read it, their numbers back; false if they are others.
  [[nodiscard]] bool restore(Instruction& instruction) const;

private:
  std::vector<bool> is_high_;  // of each vector register, in the order of operands
};

}  // namespace softgpu::compute
