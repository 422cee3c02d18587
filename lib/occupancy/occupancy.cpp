#include "occupancy/occupancy.hpp"

namespace occupancy {
namespace {

constexpr std::uint32_t sgpr_allocation_granule = 16;

constexpr std::uint64_t up_to_a_multiple(std::uint64_t value, std::uint64_t of) { return (value + of - 1) / of * of; }

}  // namespace

std::string_view to_string(Limit limit) {
  switch (limit) {
  case Limit::vector_registers:
    return "vector registers";
  case Limit::scalar_registers:
    return "scalar registers";
  case Limit::lds:
    return "LDS";
  case Limit::barriers:
    return "barriers";
  case Limit::wave_slots:
    break;
  }
  return "places for wavefronts";
}

Occupancy of(const ComputeUnit& unit, const Place& place, const WorkGroup& group) {
  Occupancy result{.waves_per_simd = unit.most_waves_per_simd};
  const auto lower = [&](std::uint32_t& count, std::uint64_t available, std::uint64_t each, Limit limit) {
    if (available == 0 || each == 0 || available / each >= count) return;
    count = static_cast<std::uint32_t>(available / each);
    result.limit = limit;
  };
  const std::uint32_t lanes_of_64 = group.lanes == 32 ? 2 : 1;  // a register of 32 lanes is half of one of 64
  lower(result.waves_per_simd, std::uint64_t{lanes_of_64} * unit.vector_registers_per_simd,
        up_to_a_multiple(group.vector_registers, std::uint64_t{lanes_of_64} * unit.vgpr_allocation_granule),
        Limit::vector_registers);
  lower(result.waves_per_simd, unit.scalar_registers_per_simd,
        up_to_a_multiple(group.scalar_registers, sgpr_allocation_granule), Limit::scalar_registers);

  result.groups = place.simds * result.waves_per_simd / group.waves;
  lower(result.groups, place.lds_bytes, up_to_a_multiple(group.lds_bytes, unit.lds_granule), Limit::lds);
  if (group.waves > 1) lower(result.groups, place.barriers, 1, Limit::barriers);
  return result;
}

}  // namespace occupancy
