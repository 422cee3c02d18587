#include "occupancy_document.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/kernel_occupancy.hpp"
#include "dispatch/code_object/target_id.hpp"
#include "occupancy/compute_units.hpp"

namespace detail = fastdispatch::detail;

namespace {

Document occupancy_on(const occupancy::ComputeUnit& unit, const ElfView& elf, const detail::KernelMetadata& kernel,
                      const GroupShape& group) {
  const detail::KernelRegisters registers = detail::read_kernel_registers(elf.bytes, kernel, elf.processor);
  const std::uint64_t lds_bytes = std::uint64_t{kernel.group_segment_fixed_size} + group.dynamic_lds_bytes;
  const detail::PlacedGroups placed = detail::place_groups(unit, registers, group.work_items, lds_bytes);
  Document document;
  document["work_items_per_group"] = group.work_items;
  document["lds_bytes_per_group"] = lds_bytes;
  document["unit"] = placed.place.compute_units == 1 ? "compute unit" : "pair of compute units";
  document["groups_per_unit"] = placed.groups;
  document["waves_per_simd"] = static_cast<double>(placed.groups * placed.waves_per_group) / placed.place.simds;
  document["waves_per_simd_by_registers"] = placed.waves_per_simd;
  document["most_waves_per_simd"] = unit.most_waves_per_simd;
  document["limited_by"] = to_string(placed.limit);
  return document;
}

}  // namespace

Document occupancy_document(const ElfView& elf, const detail::KernelMetadata& kernel, const GroupShape& group) {
  if (const occupancy::ComputeUnit* unit = occupancy::find_compute_unit(elf.processor))
    return occupancy_on(*unit, elf, kernel, group);
  Document rows = Document::array();
  for (const std::string_view processor : detail::processors_of_generic(elf.processor)) {
    const occupancy::ComputeUnit* unit = occupancy::find_compute_unit(processor);
    if (unit == nullptr) continue;
    Document row = {{"gpu", processor}};
    row.update(occupancy_on(*unit, elf, kernel, group));
    rows.push_back(std::move(row));
  }
  return rows.empty() ? Document(fmt::format("not known for {}", elf.processor)) : rows;
}
