#include "softgpu/compute/execution/wave_place.hpp"

#include <algorithm>

#include "softgpu/compute/execution/compute_units.hpp"
#include "softgpu/compute/execution/launch.hpp"

namespace softgpu::compute {
namespace {

struct HardwarePlace {
  std::uint32_t engine;
  std::uint32_t unit;  ///< within the engine
  std::uint32_t simd;
  std::uint32_t wave_slot;   ///< of the SIMD
  std::uint32_t group_slot;  ///< of the compute unit
};

HardwarePlace place_of(const WaveState& state) {
  const PreparedLaunch& launch = *state.launch;
  const std::uint64_t group = launch.index_of(*state.group);
  std::uint32_t enabled = 1;
  std::uint32_t agent_units = 1;
  std::uint32_t unit = 0;
  if (const ComputeUnits* units = launch.queue().compute_units) {
    enabled = std::max(units->enabled_count(), 1U);  // none while a mask is being set
    agent_units = units->count();
    unit = units->enabled(static_cast<std::uint32_t>(group % enabled));
  }
  const std::uint32_t simds = launch.kernel().target().architecture->simds_of_a_group();
  const std::uint32_t engines = shader_engines(agent_units);
  const std::uint32_t group_slots = launch.groups_per_compute_unit();
  const auto group_slot = static_cast<std::uint32_t>(group / enabled % std::max(group_slots, 1U));
  const std::uint32_t slot = group_slot * state.group->waves() + state.wave_in_group;
  return {.engine = unit % engines,
          .unit = unit / engines,
          .simd = slot % simds,
          .wave_slot = slot / simds,
          .group_slot = group_slot};
}

/// The low bits of a number, from bit `shift` on.
std::uint32_t field(std::uint32_t value, unsigned shift, unsigned bits) {
  return (value & ((1U << bits) - 1)) << shift;
}

// Virtual memory and micro engine of a compute queue, as the kernel driver gives them.
constexpr std::uint32_t vm_id = 8;
constexpr std::uint32_t micro_engine = 1;

/// The CDNA manuals' table of HW_ID.
std::uint32_t hw_id(const HardwarePlace& place) {
  return field(place.wave_slot, 0, 4) | field(place.simd, 4, 2) | field(place.unit, 8, 4) | field(place.engine, 13, 3) |
         field(place.group_slot, 16, 4) | field(vm_id, 20, 4) | field(micro_engine, 30, 2);
}
/// The RDNA manuals' tables of HW_ID1 and HW_ID2. Two compute units are a work-group processor, whose SIMDs they share.
std::uint32_t hw_id1(const HardwarePlace& place) {
  return field(place.wave_slot, 0, 5) | field(place.unit % 2, 8, 1) | field(place.simd, 9, 1) |
         field(place.unit / 2, 10, 4) | field(place.engine, 18, 3);
}
std::uint32_t hw_id2(const HardwarePlace& place) {
  return field(micro_engine, 8, 2) | field(place.group_slot, 16, 5) | field(vm_id, 24, 4);
}

/// Sizes less one, in granules of the kernel descriptor.
std::uint32_t gpr_alloc(const PreparedLaunch& launch) {
  const KernelDescriptor& descriptor = launch.kernel().descriptor();
  const std::uint32_t vgprs = descriptor.rsrc1 & 0x3f;
  const std::uint32_t sgprs = field(descriptor.rsrc1 >> 6, 24, 4);
  const Architecture& architecture = *launch.kernel().target().architecture;
  if (architecture.has_accumulation_registers)
    return field(vgprs, architecture.gpr_alloc_vgpr_size, 6) | field(descriptor.rsrc3, 12, 6) | sgprs;
  return field(vgprs, architecture.gpr_alloc_vgpr_size, 8) | sgprs;
}

std::uint32_t lds_alloc(const PreparedLaunch& launch) {
  const std::uint32_t granule = launch.kernel().target().architecture->lds_alloc_granule;
  return field(launch.lds_bytes() / granule, 12, 11);  // 9 bits before CDNA4
}

}  // namespace

std::uint32_t place_register(const WaveState* state, std::uint32_t number) {
  switch (static_cast<PlaceRegister>(number)) {
  case PlaceRegister::hw_id:
    return hw_id(place_of(*state));
  case PlaceRegister::hw_id1:
    return hw_id1(place_of(*state));
  case PlaceRegister::hw_id2:
    return hw_id2(place_of(*state));
  case PlaceRegister::gpr_alloc:
    return gpr_alloc(*state->launch);
  case PlaceRegister::lds_alloc:
    return lds_alloc(*state->launch);
  }
  return 0;
}

std::uint32_t is_in_work_group(const WaveState* state) { return state->group->waves() > 1 ? 1 : 0; }

}  // namespace softgpu::compute
