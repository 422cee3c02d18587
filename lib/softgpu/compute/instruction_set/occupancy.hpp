// How many wavefronts and work-groups of one kernel the hardware holds at a time.
#pragma once

#include <cstdint>

#include "softgpu/compute/instruction_set/architecture.hpp"

namespace softgpu::compute {

/// LDS is allocated in multiples of so many bytes.
inline constexpr std::uint32_t lds_granule = 512;

/// What a work-group takes. Registers are those of one of its wavefronts.
struct GroupResources {
  std::uint32_t lanes = 64;            ///< of a wavefront
  std::uint32_t waves = 1;             ///< not 0
  std::uint32_t vector_registers = 0;  ///< with the AGPRs
  std::uint32_t scalar_registers = 0;  ///< 0: they are not looked at
  std::uint64_t lds_bytes = 0;
};

/// Among what the work-groups share the SIMDs and the LDS: a compute unit, or a pair of RDNA's.
struct UnitResources {
  std::uint32_t simds;
  std::uint32_t lds_bytes;
};

struct Occupancy {
  enum class Limit : std::uint8_t { wave_slots, vector_registers, scalar_registers, lds };

  std::uint32_t waves_per_simd = 0;  ///< for which there are slots and registers
  std::uint32_t groups = 0;          ///< of the unit
  Limit limit = Limit::wave_slots;   ///< of `groups`
};

[[nodiscard]] Occupancy occupancy(const Architecture& architecture, const UnitResources& unit,
                                  const GroupResources& group);

}  // namespace softgpu::compute
