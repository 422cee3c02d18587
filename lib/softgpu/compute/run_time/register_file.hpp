// Where a wavefront's registers are between two translations: an indirect branch may go on in code that another
// function translates.
#pragma once

#include <cstdint>

#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

/// Translated code addresses it by offset.
struct RegisterFile {
  alignas(64) std::uint32_t vectors[vector_register_count][64];
  std::uint64_t scalar_pairs[scalar_register::count / 2];
  std::uint32_t mode;
  std::uint8_t scc;
};

}  // namespace softgpu::compute
