// The encodings of the tested architecture's instructions.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace softgpu::isa {

/// An encoding of the ISA manual, "Microcode Formats": its bits with registers filled in, and where in the first dword
/// the opcode is. Several rows of one encoding differ in the operands that instructions ask for.
struct InstructionFormat {
  const char* name;
  std::array<std::uint32_t, 3> dwords;
  unsigned opcode_shift;
  unsigned opcode_bits;
  bool names_second_half = false;  ///< of VOPD: the opcode is the second instruction's
  std::string_view begin = {};     ///< of the mnemonics that the row is for

  [[nodiscard]] std::uint32_t opcodes() const { return 1U << opcode_bits; }
  [[nodiscard]] std::uint32_t opcode_mask() const { return (opcodes() - 1) << opcode_shift; }
  /// Whether the opcode, one of the highest, is the prefix of another encoding.
  [[nodiscard]] bool is_other_encoding(std::uint32_t opcode) const;
};

/// Those of compute. Exports and the interpolation of parameters are left out.
[[nodiscard]] const std::vector<InstructionFormat>& instruction_formats();

}  // namespace softgpu::isa
