#include "occupancy_document.hpp"

#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/instruction_set/occupancy.hpp"

namespace compute = softgpu::compute;

namespace {

const char* words_for(compute::Occupancy::Limit limit) {
  switch (limit) {
  case compute::Occupancy::Limit::vector_registers:
    return "vector registers";
  case compute::Occupancy::Limit::scalar_registers:
    return "scalar registers";
  case compute::Occupancy::Limit::lds:
    return "LDS";
  case compute::Occupancy::Limit::wave_slots:
    break;
  }
  return "places for wavefronts";
}

}  // namespace

Document occupancy_document(const compute::Architecture& architecture, const compute::KernelDescriptor& descriptor,
                            const fastdispatch::detail::KernelMetadata& kernel, const GroupShape& group) {
  const compute::Target target = descriptor.target(architecture);
  const bool is_pair =
      architecture.simds_of_a_group > architecture.simds_per_compute_unit && descriptor.wants_pair_of_compute_units();
  const compute::UnitResources unit =
      is_pair ? compute::UnitResources{architecture.simds_of_a_group, 2 * compute::max_lds_bytes_per_group}
              : compute::UnitResources{architecture.simds_per_compute_unit, compute::max_lds_bytes_per_group};
  const std::uint32_t waves = (group.work_items + target.wavefront_size - 1) / target.wavefront_size;
  const std::uint64_t lds_bytes = std::uint64_t{kernel.group_segment_fixed_size} + group.dynamic_lds_bytes;
  const compute::Occupancy occupancy = compute::occupancy(architecture, unit,
                                                          {.lanes = target.wavefront_size,
                                                           .waves = waves,
                                                           .vector_registers = descriptor.vgpr_count(target),
                                                           .scalar_registers = kernel.scalar_registers,
                                                           .lds_bytes = lds_bytes});
  Document document;
  document["work_items_per_group"] = group.work_items;
  document["lds_bytes_per_group"] = lds_bytes;
  document["unit"] = is_pair ? "pair of compute units" : "compute unit";
  document["groups_per_unit"] = occupancy.groups;
  document["waves_per_simd"] = static_cast<double>(occupancy.groups * waves) / unit.simds;
  document["waves_per_simd_by_registers"] = occupancy.waves_per_simd;
  document["most_waves_per_simd"] = architecture.most_waves_per_simd;
  document["limited_by"] = words_for(occupancy.limit);
  return document;
}
