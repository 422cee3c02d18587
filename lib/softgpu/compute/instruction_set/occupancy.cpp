#include "softgpu/compute/instruction_set/occupancy.hpp"

namespace softgpu::compute {
namespace {

constexpr std::uint32_t sgpr_allocation_granule = 16;

constexpr std::uint64_t up_to_a_multiple(std::uint64_t value, std::uint64_t of) { return (value + of - 1) / of * of; }

}  // namespace

Occupancy occupancy(const Architecture& architecture, const UnitResources& unit, const GroupResources& group) {
  Occupancy result{.waves_per_simd = architecture.most_waves_per_simd};
  const auto share = [&](std::uint32_t available, std::uint64_t each, Occupancy::Limit limit) {
    if (available == 0 || each == 0 || available / each >= result.waves_per_simd) return;
    result.waves_per_simd = static_cast<std::uint32_t>(available / each);
    result.limit = limit;
  };
  share(architecture.vector_registers_of(group.lanes),
        up_to_a_multiple(group.vector_registers, architecture.vgpr_allocation_granule_of(group.lanes)),
        Occupancy::Limit::vector_registers);
  share(architecture.scalar_registers_per_simd, up_to_a_multiple(group.scalar_registers, sgpr_allocation_granule),
        Occupancy::Limit::scalar_registers);

  result.groups = unit.simds * result.waves_per_simd / group.waves;
  const std::uint64_t lds = up_to_a_multiple(group.lds_bytes, lds_granule);
  if (lds != 0 && unit.lds_bytes / lds < result.groups) {
    result.groups = static_cast<std::uint32_t>(unit.lds_bytes / lds);
    result.limit = Occupancy::Limit::lds;
  }
  return result;
}

}  // namespace softgpu::compute
