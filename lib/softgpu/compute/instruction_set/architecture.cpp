#include "softgpu/compute/instruction_set/architecture.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <unordered_map>
#include <vector>

#include <llvm/Config/llvm-config.h>

namespace softgpu::compute {
namespace {

using enum ArchitectureFamily::FlatScratch;

// Sources: the instruction-set manuals; LLVM's AMDGPU usage guide (caches); the kernel driver (family ids, chips'
// names, devices, XCDs).

constexpr ArchitectureFamily cdna2 = {
    .instructions = ArchitectureFamily::Instructions::cdna2,
    .wavefront_size = 64,
    .has_both_wavefront_sizes = false,
    .flat_scratch = in_scalar_registers,
    .has_accumulation_registers = true,
    .packs_work_item_ids = true,
    .has_group_ids_in_ttmps = false,
    .has_float_modes_in_descriptor = true,
    .has_hw_id = true,
    .gpr_alloc_vgpr_size = 6,
    .lds_alloc_granule = 256,
    .lds_transfer_offset = 0xffff,
    .lds_transfer_bytes = 4,
    .has_shader_array_cache = false,
    .goes_past_all_caches = "glc",
    .drops_float_atomics = true,
    .flushes_float_atomics = true,
    .keeps_upper_halves = false,
    .names_register_halves = false,
    .compares_write_only_exec = false,
    .repeats_packed_inline_constants = false,
    .exchanges_within_32_lanes = false,
    .bounds_sine_domain = true,
    .has_signed_scratch_offsets = false,
    .flushes_matrix_denormals = true,
    .chooses_matrix_sums = false,
    .has_ocp_byte_floats = false,
    .has_images = true,
};

constexpr ArchitectureFamily cdna3 = [] {
  ArchitectureFamily family = cdna2;
  family.instructions = ArchitectureFamily::Instructions::cdna3;
  family.flat_scratch = architected;
  family.goes_past_all_caches = "sc1";
  family.drops_float_atomics = false;
  family.flushes_float_atomics = false;
  family.bounds_sine_domain = false;
  family.flushes_matrix_denormals = false;
  family.chooses_matrix_sums = true;
  family.has_images = false;
  return family;
}();

constexpr ArchitectureFamily cdna4 = [] {
  ArchitectureFamily family = cdna3;
  family.instructions = ArchitectureFamily::Instructions::cdna4;
  family.lds_transfer_offset = 0x3ffff;
  family.lds_transfer_bytes = 16;
  family.has_ocp_byte_floats = true;
  return family;
}();

constexpr ArchitectureFamily rdna2 = {
    .instructions = ArchitectureFamily::Instructions::rdna,
    .wavefront_size = 32,
    .has_both_wavefront_sizes = true,
    .flat_scratch = in_hardware_registers,
    .has_accumulation_registers = false,
    .packs_work_item_ids = false,
    .has_group_ids_in_ttmps = false,
    .has_float_modes_in_descriptor = true,
    .has_hw_id = false,
    .gpr_alloc_vgpr_size = 8,
    .lds_alloc_granule = 256,
    .lds_transfer_offset = 0xffff,
    .lds_transfer_bytes = 4,
    .has_shader_array_cache = true,
    .goes_past_all_caches = "dlc",
    .drops_float_atomics = false,
    .flushes_float_atomics = false,
    .keeps_upper_halves = true,
    .names_register_halves = false,
    .compares_write_only_exec = true,
    .repeats_packed_inline_constants = false,
    .exchanges_within_32_lanes = true,
    .bounds_sine_domain = true,
    .has_signed_scratch_offsets = false,
    .flushes_matrix_denormals = false,
    .chooses_matrix_sums = false,
    .has_ocp_byte_floats = false,
    .buffer_descriptors = runtime::BufferDescriptors::gfx10,
    .has_images = true,
    .image_descriptors = runtime::ImageDescriptors::gfx10,
    .gb_addr_config = 0x444,  // 16 pipes: Mesa's ac_surface_test_common.h, as of the next family
};

constexpr ArchitectureFamily rdna3 = [] {
  ArchitectureFamily family = rdna2;
  family.flat_scratch = architected;
  family.goes_past_all_caches = "glc";
  family.packs_work_item_ids = true;
  family.gpr_alloc_vgpr_size = 12;
  family.lds_alloc_granule = 512;
  family.names_register_halves = true;
  family.repeats_packed_inline_constants = true;
  family.bounds_sine_domain = false;
  family.buffer_descriptors = runtime::BufferDescriptors::gfx11;
  family.image_descriptors = runtime::ImageDescriptors::gfx11;
  family.gb_addr_config = 0x545;  // 32 pipes
  return family;
}();

constexpr ArchitectureFamily rdna4 = [] {
  ArchitectureFamily family = rdna3;
  family.instructions = ArchitectureFamily::Instructions::rdna4;
  family.has_group_ids_in_ttmps = true;
  family.has_float_modes_in_descriptor = false;
  family.has_shader_array_cache = false;
  family.goes_past_all_caches = "scope";
  family.exchanges_within_32_lanes = false;
  family.has_signed_scratch_offsets = true;
  family.has_ocp_byte_floats = true;
  family.image_descriptors = runtime::ImageDescriptors::gfx12;
  return family;
}();

/// LLVM 15 and 16 know gfx940, LLVM from 21 on gfx942, those in between both: their instructions are the same.
constexpr std::string_view cdna3_in_llvm = LLVM_VERSION_MAJOR >= 17 ? "gfx942" : "gfx940";

// clang-format off
constexpr std::array architectures = {
    Architecture{cdna2, {.name = "gfx90a", .llvm_processor = "gfx90a", .major = 9, .minor = 0, .stepping = 10,
                         .amd_name = "aldebaran", .device_id = 0x740c, .family_id = 141, .l2_caches = 1, .xgmi_to_host = true}},
    Architecture{cdna3, {.name = "gfx940", .llvm_processor = cdna3_in_llvm, .major = 9, .minor = 4, .stepping = 0,
                         .amd_name = "aqua_vanjaram", .device_id = 0x74a0, .family_id = 141, .l2_caches = 6}},
    Architecture{cdna3, {.name = "gfx942", .llvm_processor = cdna3_in_llvm, .major = 9, .minor = 4, .stepping = 2,
                         .amd_name = "aqua_vanjaram", .device_id = 0x74a1, .family_id = 141, .l2_caches = 8}},
    Architecture{cdna4, {.name = "gfx950", .llvm_processor = "gfx950", .major = 9, .minor = 5, .stepping = 0,
                         .amd_name = "ip discovery", .device_id = 0x75a0, .family_id = 141, .l2_caches = 8,
                         .first_llvm = 20}},
    Architecture{rdna2, {.name = "gfx1030", .llvm_processor = "gfx1030", .major = 10, .minor = 3, .stepping = 0,
                         .amd_name = "sienna_cichlid", .device_id = 0x73bf, .family_id = 143, .l2_caches = 1}},
    Architecture{rdna2, {.name = "gfx1031", .llvm_processor = "gfx1031", .major = 10, .minor = 3, .stepping = 1,
                         .amd_name = "navy_flounder", .device_id = 0x73df, .family_id = 143, .l2_caches = 1}},
    Architecture{rdna2, {.name = "gfx1032", .llvm_processor = "gfx1032", .major = 10, .minor = 3, .stepping = 2,
                         .amd_name = "dimgrey_cavefish", .device_id = 0x73ff, .family_id = 143, .l2_caches = 1}},
    Architecture{rdna2, {.name = "gfx1034", .llvm_processor = "gfx1034", .major = 10, .minor = 3, .stepping = 4,
                         .amd_name = "beige_goby", .device_id = 0x743f, .family_id = 143, .l2_caches = 1}},
    Architecture{rdna2, {.name = "gfx1035", .llvm_processor = "gfx1035", .major = 10, .minor = 3, .stepping = 5,
                         .amd_name = "yellow_carp", .device_id = 0x1681, .family_id = 146, .l2_caches = 1}},
    Architecture{rdna2, {.name = "gfx1036", .llvm_processor = "gfx1036", .major = 10, .minor = 3, .stepping = 6,
                         .amd_name = "raphael", .device_id = 0x164e, .family_id = 149, .l2_caches = 1}},
    Architecture{rdna3, {.name = "gfx1100", .llvm_processor = "gfx1100", .major = 11, .minor = 0, .stepping = 0,
                         .amd_name = "navi31", .device_id = 0x744c, .family_id = 145, .l2_caches = 1}},
    Architecture{rdna3, {.name = "gfx1101", .llvm_processor = "gfx1101", .major = 11, .minor = 0, .stepping = 1,
                         .amd_name = "navi32", .device_id = 0x747e, .family_id = 145, .l2_caches = 1}},
    Architecture{rdna3, {.name = "gfx1102", .llvm_processor = "gfx1102", .major = 11, .minor = 0, .stepping = 2,
                         .amd_name = "navi33", .device_id = 0x7480, .family_id = 145, .l2_caches = 1}},
    Architecture{rdna3, {.name = "gfx1103", .llvm_processor = "gfx1103", .major = 11, .minor = 0, .stepping = 3,
                         .amd_name = "phoenix", .device_id = 0x15bf, .family_id = 148, .l2_caches = 1}},
    Architecture{rdna3, {.name = "gfx1150", .llvm_processor = "gfx1150", .major = 11, .minor = 5, .stepping = 0,
                         .amd_name = "strix_point", .device_id = 0x150e, .family_id = 150, .l2_caches = 1,
                         .first_llvm = 18}},
    Architecture{rdna3, {.name = "gfx1151", .llvm_processor = "gfx1151", .major = 11, .minor = 5, .stepping = 1,
                         .amd_name = "strix_halo", .device_id = 0x1586, .family_id = 150, .l2_caches = 1,
                         .first_llvm = 18}},
    Architecture{rdna4, {.name = "gfx1200", .llvm_processor = "gfx1200", .major = 12, .minor = 0, .stepping = 0,
                         .amd_name = "ip discovery", .device_id = 0x7590, .family_id = 152, .l2_caches = 1,
                         .first_llvm = 19}},
    Architecture{rdna4, {.name = "gfx1201", .llvm_processor = "gfx1201", .major = 12, .minor = 0, .stepping = 1,
                         .amd_name = "ip discovery", .device_id = 0x7550, .family_id = 152, .l2_caches = 1,
                         .first_llvm = 19}},
};
// clang-format on

bool is_known_to_llvm(const Architecture& architecture) { return architecture.first_llvm <= LLVM_VERSION_MAJOR; }

}  // namespace

std::span<const Architecture> Architecture::all() {
  static const auto& known = []() -> const std::vector<Architecture>& {
    auto& result = *new std::vector<Architecture>;  // as the handlers, never destroyed
    std::ranges::copy_if(architectures, std::back_inserter(result), is_known_to_llvm);
    return result;
  }();
  return known;
}

std::optional<unsigned> Architecture::needed_llvm(std::string_view name) {
  const auto* found = std::ranges::find(architectures, name, &Architecture::name);
  if (found == architectures.end() || is_known_to_llvm(*found)) return std::nullopt;
  return found->first_llvm;
}

const Architecture* Architecture::find(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Architecture::name);
  return found == all().end() ? nullptr : &*found;
}

std::string Architecture::canonical_mnemonic(std::string mnemonic) const {
  if (this == &gfx90a()) return mnemonic;
  using Names = std::unordered_map<std::string_view, std::string_view>;
  const auto make = [](Instructions of) -> const Names& {
    auto& result = *new Names;  // as the handlers, never destroyed
    for (const RenamedInstruction& each : renamed_instructions(of)) result.emplace(each.name, each.gfx90a_name);
    return result;
  };
  static const Names& before_rdna4 = make(Instructions::rdna);
  static const Names& of_rdna4 = make(Instructions::rdna4);
  const Names& names = instructions == Instructions::rdna4 ? of_rdna4 : before_rdna4;
  const auto found = names.find(mnemonic);
  return found == names.end() ? mnemonic : std::string(found->second);
}

}  // namespace softgpu::compute
