#include "softgpu/compute/profile/describe.hpp"

#include "softgpu/compute/program/source_line.hpp"

namespace softgpu::compute::profile {

void describe(KernelProfile& kernel, const Program& program, std::uint64_t code_address) {
  const SourceLines lines(code_address);
  for (const auto& each : program.instructions) {
    const std::int64_t offset = each.first;
    const Instruction& instruction = each.second;
    kernel.instruction(offset, instruction.text, [&](InstructionCounts& counts) {
      counts.category = category_of(instruction.mnemonic);
      counts.direction = direction_of(instruction.mnemonic);
      counts.line = lines.line_of(code_address + static_cast<std::uint64_t>(offset));
    });
  }
}

}  // namespace softgpu::compute::profile
