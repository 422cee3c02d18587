// Instructions that differ in the numbers of their registers alone, or in constants that might be scalar registers, are
// one template: code for one of them serves the others, given where their registers and constants are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

struct InstructionTemplate {
  /// Registers side by side that an instruction names, or a constant of its own instead of a scalar register.
  struct Registers {
    bool are_vectors;
    unsigned first;  ///< in the template
    unsigned count;
    unsigned place = 0;                          ///< the number of the first in the instruction itself
    std::optional<std::uint32_t> constant = {};  ///< what the first one holds
  };

  Instruction instruction;  ///< with the template's numbers
  std::vector<Registers> registers;
  std::string key;  ///< equal for two instructions of one template, on one GPU and in one mode
};

/// Whether an instruction is worth a template, and needs nothing but its operands and the state of its wavefront.
[[nodiscard]] bool may_be_template(const Instruction& instruction);

[[nodiscard]] InstructionTemplate template_of(const Instruction& instruction);

}  // namespace softgpu::compute
