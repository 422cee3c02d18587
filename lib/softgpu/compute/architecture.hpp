// The GPU architectures that the engine executes, and everything in which they differ.
//
// The families of instructions are written in gfx90a's terms. Where another architecture only spells an instruction
// differently, the decoder gives it gfx90a's name, so that one handler serves both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace softgpu::compute {

class HandlerTable;

struct Architecture {
  /// Where a kernel finds the beginning of its private memory.
  enum class FlatScratch : std::uint8_t {
    in_scalar_registers,    ///< it computes FLAT_SCRATCH, which is a pair of scalar registers
    in_hardware_registers,  ///< it computes FLAT_SCRATCH and sets it by s_setreg
    architected,            ///< the hardware has set it
  };

  std::string_view name;  ///< as ROCr spells it
  std::string_view llvm_processor;
  std::uint32_t major, minor, stepping;
  std::string_view amd_name;     ///< of the product that is modelled, as the kernel driver has it
  std::uint32_t device_id;       ///< and its PCI device
  std::uint32_t family_id;       ///< what the kernel driver counts it among
  std::uint32_t wavefront_size;  ///< of kernels that do not say otherwise
  std::uint32_t simds_per_compute_unit;
  bool has_both_wavefront_sizes;   ///< the kernel descriptor's ENABLE_WAVEFRONT_SIZE32 chooses
  bool packs_work_item_ids;        ///< x, y and z in v0; else in v0, v1 and v2
  bool keeps_upper_halves;         ///< results of 16 bits leave the register's other half as it is
  bool exchanges_within_32_lanes;  ///< ds_permute and ds_bpermute do not reach the other half of 64 lanes
  bool has_gfx9_element_formats;   ///< of typed buffers, which later ones number in another way
  bool flushes_matrix_denormals;   ///< matrix instructions take and give denormals of 16 bits as zeros
  FlatScratch flat_scratch;
  const HandlerTable& (*handlers)();

  /// VGPRs that begin with the work-items' ids.
  [[nodiscard]] unsigned work_item_id_registers() const { return packs_work_item_ids ? 1 : 3; }
  /// What gfx90a calls the instruction that is `mnemonic` here (without the encoding's suffix).
  [[nodiscard]] std::string canonical_mnemonic(std::string mnemonic) const;

  /// All of them; the first one is the default.
  [[nodiscard]] static std::span<const Architecture> all();
  [[nodiscard]] static const Architecture& gfx90a() { return all().front(); }
  /// Null where nobody knows the name.
  [[nodiscard]] static const Architecture* find(std::string_view name);
};

/// The instructions that later architectures renamed.
struct RenamedInstruction {
  std::string name;
  std::string gfx90a_name;
};
[[nodiscard]] std::span<const RenamedInstruction> renamed_instructions();

/// What a kernel is compiled for.
struct Target {
  const Architecture* architecture = &Architecture::gfx90a();
  std::uint32_t wavefront_size = 64;
  /// VGPRs of a wavefront besides AGPRs, as its kernel descriptor allocates them: as far as an index may reach.
  std::uint32_t vector_registers = 0;
};

}  // namespace softgpu::compute
