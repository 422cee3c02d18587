// Where LLVM's disassembler is wrong, leaves something out, or ends the process.
#pragma once

#include <cstdint>
#include <span>

#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

/// Whether the disassembler would end the process over an instruction that begins with these bytes: it is none.
[[nodiscard]] bool ends_disassembler(std::span<const std::uint8_t, 8> bytes);

/// Puts right what the disassembler printed. `instruction` has its size, its first dword and gfx90a's name.
void correct(Instruction& instruction, const Target& target);

}  // namespace softgpu::compute
