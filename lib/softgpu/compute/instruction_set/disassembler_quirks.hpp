// Where LLVM's disassembler is wrong, leaves something out, or ends the process.
#pragma once

#include <cstdint>
#include <span>

#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

/// Whether the disassembler would end the process at these bytes, which are no instruction.
[[nodiscard]] bool ends_disassembler(std::span<const std::uint8_t, 8> bytes, const Target& target);

/// Makes v_cmpx of GFX9 in 64 bits, which LLVM 21 calls undefined, the v_cmp that differs from it by a bit; false if
/// the code is none.
[[nodiscard]] bool make_cmp_of_cmpx(std::span<std::uint8_t> code);

/// Corrects the disassembler's text. `instruction` has its size, its first dword and gfx90a's name.
void correct(Instruction& instruction, const Target& target);

}  // namespace softgpu::compute
