#include "lane_pattern.hpp"

namespace softgpu::litmus {

std::uint32_t offset_of_lane(LanePattern pattern, std::uint32_t lane, std::uint32_t lanes,
                             std::uint32_t element_bytes) {
  switch (pattern) {
  case LanePattern::uniform:
    return 0;
  case LanePattern::strided:
    return elements_per_lane * lane * element_bytes;
  case LanePattern::scattered:
    return (lane * 37 + 11) % lanes * element_bytes;  // an odd factor: no two lanes meet
  case LanePattern::consecutive:
  case LanePattern::one_lane:
  case LanePattern::some_lanes:
    break;
  }
  return lane * element_bytes;
}

std::uint64_t execution_mask(LanePattern pattern, std::uint32_t lanes) {
  const std::uint64_t all = lanes == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << lanes) - 1;
  switch (pattern) {
  case LanePattern::one_lane:
    return std::uint64_t{1} << 5;
  case LanePattern::some_lanes:
    return 0x6db6db6db6db6db6 & all;
  case LanePattern::consecutive:
  case LanePattern::uniform:
  case LanePattern::strided:
  case LanePattern::scattered:
    break;
  }
  return all;
}

std::string name_of(LanePattern pattern) {
  switch (pattern) {
  case LanePattern::consecutive:
    return "consecutive";
  case LanePattern::uniform:
    return "uniform";
  case LanePattern::strided:
    return "strided";
  case LanePattern::scattered:
    return "scattered";
  case LanePattern::one_lane:
    return "one lane";
  case LanePattern::some_lanes:
    break;
  }
  return "some lanes";
}

}  // namespace softgpu::litmus
