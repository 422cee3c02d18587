// The compute units of AMD's GPUs, by the GPU's name. A GPU is a row.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "occupancy/compute_unit.hpp"

namespace occupancy {
namespace families {

// Sources: LLVM's GCNSubtarget and AMDGPUBaseInfo (wavefronts, registers, barriers), its AMDGPU usage guide (granules
// of COMPUTE_PGM_RSRC1 and of LDS).

inline constexpr ComputeUnit gfx9 = {
    .simds = 4,
    .works_in_pairs = false,
    .barriers = 16,
    .most_waves_per_simd = 10,
    .vector_registers_per_simd = 256,
    .vgpr_allocation_granule = 4,
    .vgpr_granule = 4,
    .scalar_registers_per_simd = 800,
    .lds_bytes = 65536,
    .lds_granule = 512,
};

inline constexpr ComputeUnit gfx90a = [] {
  ComputeUnit unit = gfx9;
  unit.most_waves_per_simd = 8;
  unit.vector_registers_per_simd = 512;
  unit.vgpr_allocation_granule = 8;
  unit.vgpr_granule = 8;
  return unit;
}();

inline constexpr ComputeUnit gfx950 = [] {
  ComputeUnit unit = gfx90a;
  unit.lds_bytes = 163840;
  unit.lds_granule = 1280;
  return unit;
}();

inline constexpr ComputeUnit gfx10_1 = {
    .simds = 2,
    .works_in_pairs = true,
    .barriers = 16,
    .most_waves_per_simd = 20,
    .vector_registers_per_simd = 512,
    .vgpr_allocation_granule = 4,
    .vgpr_granule = 4,
    .scalar_registers_per_simd = 0,
    .lds_bytes = 65536,
    .lds_granule = 512,
};

inline constexpr ComputeUnit gfx10_3 = [] {
  ComputeUnit unit = gfx10_1;
  unit.most_waves_per_simd = 16;
  unit.vgpr_allocation_granule = 8;
  return unit;
}();

/// Half as many registers again as RDNA2.
inline constexpr ComputeUnit gfx11_with_more_registers = [] {
  ComputeUnit unit = gfx10_3;
  unit.vector_registers_per_simd = 768;
  unit.vgpr_allocation_granule = 12;
  return unit;
}();

}  // namespace families

inline constexpr std::array<std::pair<std::string_view, const ComputeUnit*>, 33> compute_units = {{
    {"gfx900", &families::gfx9},
    {"gfx902", &families::gfx9},
    {"gfx904", &families::gfx9},
    {"gfx906", &families::gfx9},
    {"gfx908", &families::gfx9},
    {"gfx909", &families::gfx9},
    {"gfx90c", &families::gfx9},
    {"gfx90a", &families::gfx90a},
    {"gfx940", &families::gfx90a},
    {"gfx941", &families::gfx90a},
    {"gfx942", &families::gfx90a},
    {"gfx950", &families::gfx950},
    {"gfx1010", &families::gfx10_1},
    {"gfx1011", &families::gfx10_1},
    {"gfx1012", &families::gfx10_1},
    {"gfx1013", &families::gfx10_1},
    {"gfx1030", &families::gfx10_3},
    {"gfx1031", &families::gfx10_3},
    {"gfx1032", &families::gfx10_3},
    {"gfx1033", &families::gfx10_3},
    {"gfx1034", &families::gfx10_3},
    {"gfx1035", &families::gfx10_3},
    {"gfx1036", &families::gfx10_3},
    {"gfx1100", &families::gfx11_with_more_registers},
    {"gfx1101", &families::gfx11_with_more_registers},
    {"gfx1102", &families::gfx10_3},
    {"gfx1103", &families::gfx10_3},
    {"gfx1150", &families::gfx10_3},
    {"gfx1151", &families::gfx11_with_more_registers},
    {"gfx1152", &families::gfx10_3},
    {"gfx1153", &families::gfx10_3},
    {"gfx1200", &families::gfx11_with_more_registers},
    {"gfx1201", &families::gfx11_with_more_registers},
}};

/// The compute units of a GPU of this name, such as gfx90a. Null if they are not known.
[[nodiscard]] constexpr const ComputeUnit* find_compute_unit(std::string_view processor) {
  const auto* found =
      std::ranges::find(compute_units, processor, &std::pair<std::string_view, const ComputeUnit*>::first);
  return found == compute_units.end() ? nullptr : found->second;
}

}  // namespace occupancy
