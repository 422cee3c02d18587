// Turns assembly into machine code within the process, so that LLVM encodes the tests' instructions.
#pragma once

#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "tested_target.hpp"

namespace softgpu::isa {

/// The text did not assemble; what() holds LLVM's diagnostics with the offending lines.
class AssemblyError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The machine code of `text` for amdgcn-amd-amdhsa and `target`. Branches may only go to labels within `text`.
[[nodiscard]] std::vector<std::byte> assemble(const std::string& text, const compute::Target& target = tested_target());
/// Whether it does for the tested architecture. LLVM decodes some opcodes that its assembler then does not take.
[[nodiscard]] bool assembles(const std::string& text);

}  // namespace softgpu::isa
