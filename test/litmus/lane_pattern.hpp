// Where the lanes of a wavefront have their variables, and which lanes take part: the translated code accesses each
// pattern in another way.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace softgpu::litmus {

enum class LanePattern : std::uint8_t {
  consecutive,
  uniform,    ///< all lanes share one variable
  strided,    ///< every other element
  scattered,  ///< consecutive elements in disorder
  one_lane,   ///< EXEC has one lane
  some_lanes  ///< two lanes of three, consecutive
};

inline constexpr std::array all_lane_patterns = {LanePattern::consecutive, LanePattern::uniform,
                                                 LanePattern::strided,     LanePattern::scattered,
                                                 LanePattern::one_lane,    LanePattern::some_lanes};

/// The most elements that a pattern's variables may be spread over, for each lane.
inline constexpr std::uint32_t elements_per_lane = 2;

/// The offset in bytes of a lane's element from the first one.
[[nodiscard]] std::uint32_t offset_of_lane(LanePattern pattern, std::uint32_t lane, std::uint32_t lanes,
                                           std::uint32_t element_bytes);
[[nodiscard]] std::uint64_t execution_mask(LanePattern pattern, std::uint32_t lanes);
[[nodiscard]] std::string name_of(LanePattern pattern);

}  // namespace softgpu::litmus
