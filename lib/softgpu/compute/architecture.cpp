#include "architecture.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include <llvm/Config/llvm-config.h>

#include "handler_table.hpp"

namespace softgpu::compute {
namespace {

/// LLVM 17 is the first to know gfx942. What came before has gfx940, whose instructions are the same.
constexpr std::string_view gfx942_in_llvm = LLVM_VERSION_MAJOR >= 17 ? "gfx942" : "gfx940";

}  // namespace

std::span<const Architecture> Architecture::all() {
  using enum FlatScratch;
  // clang-format off
  static constexpr std::array architectures = {
      Architecture{.name = "gfx90a", .llvm_processor = "gfx90a", .major = 9, .minor = 0, .stepping = 10,
                   .amd_name = "aldebaran", .device_id = 0x740c, .family_id = 141,
                   .wavefront_size = 64, .simds_per_compute_unit = 4, .has_both_wavefront_sizes = false,
                   .packs_work_item_ids = true, .keeps_upper_halves = false,
                   .exchanges_within_32_lanes = false, .has_gfx9_element_formats = true,
                   .flushes_matrix_denormals = true, .flat_scratch = in_scalar_registers,
                   .handlers = HandlerTable::gfx90a},
      Architecture{.name = "gfx942", .llvm_processor = gfx942_in_llvm, .major = 9, .minor = 4, .stepping = 2,
                   .amd_name = "aqua_vanjaram", .device_id = 0x74a1, .family_id = 141,
                   .wavefront_size = 64, .simds_per_compute_unit = 4, .has_both_wavefront_sizes = false,
                   .packs_work_item_ids = true, .keeps_upper_halves = false,
                   .exchanges_within_32_lanes = false, .has_gfx9_element_formats = true,
                   .flushes_matrix_denormals = false, .flat_scratch = architected,
                   .handlers = HandlerTable::gfx942},
      Architecture{.name = "gfx1030", .llvm_processor = "gfx1030", .major = 10, .minor = 3, .stepping = 0,
                   .amd_name = "sienna_cichlid", .device_id = 0x73bf, .family_id = 143,
                   .wavefront_size = 32, .simds_per_compute_unit = 2, .has_both_wavefront_sizes = true,
                   .packs_work_item_ids = false, .keeps_upper_halves = true,
                   .exchanges_within_32_lanes = true, .has_gfx9_element_formats = false,
                   .flushes_matrix_denormals = false, .flat_scratch = in_hardware_registers,
                   .handlers = HandlerTable::rdna},
      Architecture{.name = "gfx1100", .llvm_processor = "gfx1100", .major = 11, .minor = 0, .stepping = 0,
                   .amd_name = "navi31", .device_id = 0x744c, .family_id = 145,
                   .wavefront_size = 32, .simds_per_compute_unit = 2, .has_both_wavefront_sizes = true,
                   .packs_work_item_ids = true, .keeps_upper_halves = true,
                   .exchanges_within_32_lanes = true, .has_gfx9_element_formats = false,
                   .flushes_matrix_denormals = false, .flat_scratch = architected,
                   .handlers = HandlerTable::rdna},
  };
  // clang-format on
  return architectures;
}

const Architecture* Architecture::find(std::string_view name) {
  const auto found = std::ranges::find(all(), name, &Architecture::name);
  return found == all().end() ? nullptr : &*found;
}

std::string Architecture::canonical_mnemonic(std::string mnemonic) const {
  if (this == &gfx90a()) return mnemonic;
  static const auto& names = []() -> const std::unordered_map<std::string_view, std::string_view>& {
    auto& result = *new std::unordered_map<std::string_view, std::string_view>;  // as the handlers, never destroyed
    for (const RenamedInstruction& each : renamed_instructions()) result.emplace(each.name, each.gfx90a_name);
    return result;
  }();
  const auto found = names.find(mnemonic);
  return found == names.end() ? mnemonic : std::string(found->second);
}

}  // namespace softgpu::compute
