// From machine code to Instructions: LLVM's disassembler decodes, its text is parsed.
//
// The text is documented ("Syntax of AMDGPU Instruction Operands") and stable across LLVM's releases. The numbers of
// MCInst opcodes are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

/// Parses one instruction as the assembler would read it. `offset` and `size` are left 0.
[[nodiscard]] Instruction parse_instruction(std::string_view text);

/// Not thread-safe: one per translation.
class Disassembler {
public:
  explicit Disassembler(const Target& target = {});

  /// The longest encoding, in bytes.
  static constexpr std::size_t longest = 16;

  /// The instruction at the front of `code` under gfx90a's name, or nothing where the bytes are no instruction.
  [[nodiscard]] std::optional<Instruction> decode(std::span<const std::byte> code, std::int64_t offset) const;

private:
  Target target_;
  std::unique_ptr<void, void (*)(void*)> context_;
};

}  // namespace softgpu::compute
