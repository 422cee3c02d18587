// From machine code to Instructions: LLVM's disassembler decodes, its text is parsed.
//
// The text is what is stable across LLVM's releases and documented ("Syntax of AMDGPU Instruction Operands"); the
// numbering of MCInst opcodes is neither.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "instruction.hpp"

namespace softgpu::compute {

/// Parses one instruction as the assembler would read it. `offset` and `size` are left 0.
[[nodiscard]] Instruction parse_instruction(std::string_view text);

/// Not thread-safe: one per translation.
class Disassembler {
public:
  Disassembler();

  /// The instruction at the front of `code`, or nothing where the bytes are no gfx90a instruction.
  [[nodiscard]] std::optional<Instruction> decode(std::span<const std::byte> code, std::int64_t offset) const;

private:
  std::unique_ptr<void, void (*)(void*)> context_;
};

}  // namespace softgpu::compute
