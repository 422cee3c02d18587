// How many wavefronts and work-groups of one kernel the hardware holds at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "occupancy/compute_unit.hpp"

namespace occupancy {

/// What a work-group takes. Registers are those of one of its wavefronts.
struct WorkGroup {
  std::uint32_t lanes = 64;            ///< of a wavefront
  std::uint32_t waves = 1;             ///< not 0
  std::uint32_t vector_registers = 0;  ///< with the AGPRs
  std::uint32_t scalar_registers = 0;  ///< 0: they are not looked at
  std::uint64_t lds_bytes = 0;
};

enum class Limit : std::uint8_t { wave_slots, vector_registers, scalar_registers, lds, barriers };
/// "places for wavefronts", "vector registers", "scalar registers", "LDS" or "barriers".
[[nodiscard]] std::string_view to_string(Limit limit);

struct Occupancy {
  std::uint32_t waves_per_simd = 0;  ///< for which there are slots and registers
  std::uint32_t groups = 0;          ///< in the place
  Limit limit = Limit::wave_slots;   ///< of `groups`
};

/// `place` is one of `unit`.
[[nodiscard]] Occupancy of(const ComputeUnit& unit, const Place& place, const WorkGroup& group);

}  // namespace occupancy
