// The GPU architectures that the engine executes, and their properties. Code elsewhere asks for a property: nothing
// else in the soft GPU compares an architecture's name or version. Instructions that gfx90a lacks are in
// cdna3_instructions.cpp, cdna4_instructions.cpp, rdna_instructions.cpp and rdna4_instructions.cpp.
//
// The families of instructions are written in gfx90a's terms. If another architecture only spells an instruction
// differently, the decoder gives it gfx90a's name, so that one handler serves both.
//
// A GPU of a known family is a row in architecture.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "occupancy/compute_units.hpp"
#include "softgpu/compute/instruction_set/buffer_resource.hpp"
#include "softgpu/compute/instruction_set/image_resource.hpp"

namespace softgpu::compute {

/// The common properties of a family's GPUs.
struct ArchitectureFamily {
  /// The handlers that emit its instructions.
  enum class Instructions : std::uint8_t { cdna2, cdna3, cdna4, rdna, rdna4 };

  /// Where a kernel finds the beginning of its private memory.
  enum class FlatScratch : std::uint8_t {
    in_scalar_registers,    ///< it computes FLAT_SCRATCH, which is a pair of scalar registers
    in_hardware_registers,  ///< it computes FLAT_SCRATCH and sets it by s_setreg
    architected,            ///< the hardware has set it
  };

  Instructions instructions;
  std::uint32_t wavefront_size;   ///< of kernels that do not say otherwise
  bool has_both_wavefront_sizes;  ///< the kernel descriptor's ENABLE_WAVEFRONT_SIZE32 chooses
  FlatScratch flat_scratch;

  // Registers, as the kernel descriptor and the hardware registers count them.
  bool has_accumulation_registers;     ///< behind the VGPRs, as the descriptor's ACCUM_OFFSET says
  bool packs_work_item_ids;            ///< x, y and z in v0; else in v0, v1 and v2
  bool has_group_ids_in_ttmps;         ///< the work-group's ids: x in ttmp9, y and z in ttmp7; else in SGPRs
  bool has_float_modes_in_descriptor;  ///< DX10_CLAMP and IEEE; else NaN is always clamped to 0, and there is no IEEE
  bool has_hw_id;                      ///< a wavefront's place is in HW_ID; else in HW_ID1 and HW_ID2
  std::uint32_t gpr_alloc_vgpr_size;   ///< the bit of GPR_ALLOC at which the number of VGPRs begins
  std::uint32_t lds_alloc_granule;     ///< of LDS_ALLOC, in bytes
  std::uint32_t lds_transfer_offset;   ///< the bits of M0 that count where memory and LDS exchange data
  std::uint32_t lds_transfer_bytes;    ///< that a lane exchanges at most

  // Caches (docs/fences.md).
  bool has_shader_array_cache;            ///< an L1 between the compute units' caches and the L2
  std::string_view goes_past_all_caches;  ///< the modifier of loads and stores of more than work-group scope

  bool drops_float_atomics;    ///< on fine-grained memory they do nothing, and return 0
  bool flushes_float_atomics;  ///< atomic_add_f32 in memory takes and gives denormals as zeros

  // The behaviour of instructions.
  bool keeps_upper_halves;               ///< results of 16 bits leave the register's other half as it is
  bool names_register_halves;            ///< instructions of 16 bits choose halves in each encoding
  bool compares_write_only_exec;         ///< v_cmpx has no other destination
  bool repeats_packed_inline_constants;  ///< v_pk_fmac_f16 takes an inline constant's lower half for both
  bool exchanges_within_32_lanes;        ///< ds_permute and ds_bpermute do not reach the other half of 64 lanes
  bool bounds_sine_domain;               ///< v_sin_f32 and v_cos_f32 give 0 and 1 beyond 256 turns
  bool has_signed_scratch_offsets;       ///< registers' offsets within private memory may be negative
  bool flushes_matrix_denormals;         ///< matrix instructions take and give denormals of 16 bits as zeros
  bool chooses_matrix_sums;              ///< the bit ACC_CD says whether a matrix instruction's sums are in AGPRs
  bool has_ocp_byte_floats;              ///< FP8 and BF8 are the Open Compute Project's; else of the kind FNUZ
  runtime::BufferDescriptors buffer_descriptors = runtime::BufferDescriptors::gfx9;
  bool has_images = false;
  /// Of images, with the numbers of formats of typed buffers.
  runtime::ImageDescriptors image_descriptors = runtime::ImageDescriptors::gfx9;
  /// GB_ADDR_CONFIG, by which ROCr sizes tiled images.
  std::uint32_t gb_addr_config = 0;
};

/// The properties of a GPU within its family.
struct ArchitectureProduct {
  std::string_view name;  ///< as ROCr spells it
  std::string_view llvm_processor;
  std::uint32_t major, minor, stepping;
  std::string_view amd_name;  ///< of the product that is modelled, as the kernel driver has it
  std::uint32_t device_id;    ///< and its PCI device
  std::uint32_t family_id;    ///< and the number that the kernel driver gives to chips of its kind
  std::uint32_t l2_caches;    ///< of all its XCDs
  bool xgmi_to_host = false;  ///< else the host reaches it over PCI Express
  unsigned first_llvm = 15;   ///< the first LLVM that knows the processor and its instructions
};

struct Architecture : ArchitectureFamily, ArchitectureProduct {
  constexpr Architecture(const ArchitectureFamily& family, const ArchitectureProduct& product)
      : ArchitectureFamily(family), ArchitectureProduct(product),
        compute_unit(occupancy::find_compute_unit(product.name)) {}

  const occupancy::ComputeUnit* compute_unit;

  /// VGPRs that begin with the work-items' ids.
  [[nodiscard]] unsigned work_item_id_registers() const { return packs_work_item_ids ? 1 : 3; }
  /// Over which a work-group's wavefronts spread: RDNA's units share theirs in pairs.
  [[nodiscard]] std::uint32_t simds_of_a_group() const {
    return (compute_unit->works_in_pairs ? compute_unit->in_a_pair() : compute_unit->alone()).simds;
  }
  [[nodiscard]] bool is_rdna() const {
    return instructions == Instructions::rdna || instructions == Instructions::rdna4;
  }
  /// By a release at system scope, or by buffer_wbl2, which the others do not have.
  [[nodiscard]] bool writes_l2_back() const { return !is_rdna(); }
  /// Whether AMD's runtimes send barrier-value packets to GPUs of this family (docs/hardware.md).
  [[nodiscard]] bool knows_barrier_values() const { return !is_rdna(); }
  /// Whether the copy engine's packets tell larger boxes, by other fields (ROCr's SDMA_PKT_COPY_LINEAR_RECT_GFX12).
  [[nodiscard]] bool copies_larger_boxes() const { return instructions == Instructions::rdna4; }
  /// gfx90a's name for this architecture's `mnemonic` (without the encoding's suffix).
  [[nodiscard]] std::string canonical_mnemonic(std::string mnemonic) const;

  /// All that the LLVM of this build knows; the first one is the default.
  [[nodiscard]] static std::span<const Architecture> all();
  [[nodiscard]] static const Architecture& gfx90a() { return all().front(); }
  /// Null if the name is not known.
  [[nodiscard]] static const Architecture* find(std::string_view name);
  /// Which LLVM an architecture of this name waits for; nothing unless it is this build's that is too old.
  [[nodiscard]] static std::optional<unsigned> needed_llvm(std::string_view name);
};

/// The instructions that later architectures renamed. If two rows have a name in common, the first one counts.
struct RenamedInstruction {
  std::string name;
  std::string gfx90a_name;
};
[[nodiscard]] std::span<const RenamedInstruction> renamed_instructions(ArchitectureFamily::Instructions instructions);

/// The target of a kernel's code.
struct Target {
  const Architecture* architecture = &Architecture::gfx90a();
  std::uint32_t wavefront_size = 64;
  /// VGPRs of a wavefront besides AGPRs, as its kernel descriptor allocates them: as far as an index may reach.
  std::uint32_t vector_registers = 0;
};

}  // namespace softgpu::compute
