// Where the registers of a wavefront are while its code calls a function an instruction.
#pragma once

#include <cstddef>
#include <cstdint>

#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

/// On a wavefront's stack: this, then the VGPRs that its kernel has, then the AGPRs, of 64 lanes each. Translated code
/// addresses the fields by offset.
struct alignas(64) RegistersInMemory {
  static constexpr std::size_t vector_bytes = 256;

  std::uint64_t scalar_pairs[scalar_register::count / 2];
  std::uint32_t mode;
  std::uint8_t scc;
};

/// Called by translated code: gives all registers their first values.
/// `id_registers` VGPRs have the work-items' ids, one a dimension, or one with all of them.
void begin_registers(WaveState* state, RegistersInMemory* registers, std::uint32_t vectors, std::uint32_t id_registers,
                     std::uint32_t mode);
/// The same between these registers and the wavefront's register file: before it leaves the code, and back there.
void keep_registers(WaveState* state, const RegistersInMemory* registers, std::uint32_t vgprs, std::uint32_t agprs);
void take_registers(WaveState* state, RegistersInMemory* registers, std::uint32_t vgprs, std::uint32_t agprs);

}  // namespace softgpu::compute
