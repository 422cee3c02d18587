// How many work-groups of a kernel a GPU holds at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "fastdispatch/detail/export.hpp"

namespace fastdispatch {

/// What keeps a compute unit from holding more work-groups of a kernel.
enum class OccupancyLimit : std::uint8_t {
  wave_slots,        ///< the SIMDs' places for wavefronts
  vector_registers,  ///< with the accumulation registers
  scalar_registers,
  lds,
  barriers,  ///< each work-group of several wavefronts takes one
};

/// "places for wavefronts", "vector registers", "scalar registers", "LDS" or "barriers".
[[nodiscard]] FASTDISPATCH_EXPORT std::string_view to_string(OccupancyLimit limit);

/// How well work-groups of one kernel fill a GPU that runs nothing else. Kernel::occupancy tells it.
struct Occupancy {
  std::uint32_t groups = 0;         ///< that a compute unit holds at a time, or a pair of them; 0: a group does not fit
  std::uint32_t waves = 0;          ///< the wavefronts of these groups
  std::uint32_t most_waves = 0;     ///< the places for wavefronts there
  std::uint32_t compute_units = 1;  ///< 2 where RDNA's kernels spread their groups over a pair of compute units
  std::uint64_t groups_on_gpu = 0;  ///< that all compute units hold at a time: a larger grid takes several rounds
  OccupancyLimit limit = OccupancyLimit::wave_slots;  ///< what runs out first

  friend bool operator==(const Occupancy&, const Occupancy&) = default;
};

}  // namespace fastdispatch
