// The target of the differential tests: the architecture and the wavefront size that FASTDISPATCH_ISA_TARGET names,
// such as gfx1100 (its wavefronts of 32 lanes) or gfx1100-wave64. gfx90a where it is not set.
#pragma once

#include <optional>
#include <string>

#include "softgpu/compute/instruction_set/architecture.hpp"

namespace softgpu::isa {

[[nodiscard]] const compute::Target& tested_target();
[[nodiscard]] inline bool tests_wave32() { return tested_target().wavefront_size == 32; }
[[nodiscard]] inline bool tests_gfx90a() { return tested_target().architecture == &compute::Architecture::gfx90a(); }

/// CDNA3 or CDNA4.
[[nodiscard]] bool tests_later_cdna();
[[nodiscard]] bool tests_rdna4();
[[nodiscard]] inline bool tests_rdna() { return tested_target().architecture->has_both_wavefront_sizes; }
[[nodiscard]] inline bool tests_rdna3_or_later() { return tested_target().architecture->names_register_halves; }

/// The registers of a lane mask that begins in `first`, as the assembler spells them; VCC likewise.
[[nodiscard]] std::string mask_registers(unsigned first);
[[nodiscard]] inline const char* vcc_text() { return tests_wave32() ? "vcc_lo" : "vcc"; }

/// Instructions in gfx90a's spelling as the tested architecture spells them; nothing where its assembler knows no such
/// instruction or operand.
[[nodiscard]] std::optional<std::string> spelled_for_target(const std::string& assembly);

}  // namespace softgpu::isa
