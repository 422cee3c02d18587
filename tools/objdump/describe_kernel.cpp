#include "describe_kernel.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/demangle.hpp"
#include "dispatch/code_object/signature.hpp"

namespace detail = fastdispatch::detail;

namespace {

Document describe_arguments(const detail::KernelMetadata& kernel, bool with_implicit_ones) {
  const std::vector<std::string> types = detail::types_of_arguments(kernel);
  auto type = types.begin();
  Document arguments = Document::array();
  for (const detail::ArgumentMetadata& argument : kernel.arguments) {
    if (argument.hidden() && !with_implicit_ones) continue;
    Document row;
    row["offset"] = argument.offset;
    row["bytes"] = argument.size;
    row["kind"] = argument.value_kind;
    row["type"] = argument.hidden() ? "" : *type++;
    row["name"] = argument.name;
    arguments.push_back(std::move(row));
  }
  return arguments;
}

Document describe_registers(const detail::KernelMetadata& kernel) {
  Document registers;
  registers["scalar"] = kernel.scalar_registers;
  registers["vector"] = kernel.vector_registers;
  registers["accumulation"] = kernel.accumulation_registers;
  registers["spilled_scalar"] = kernel.spilled_scalar_registers;
  registers["spilled_vector"] = kernel.spilled_vector_registers;
  return registers;
}

Document describe_occupancy(const ElfView& elf, const detail::KernelMetadata& kernel, const DumpOptions& options) {
  constexpr std::uint32_t usual_group = 256;
  const std::uint32_t most = std::max(kernel.max_flat_workgroup_size, 1U);
  const std::uint32_t work_items = options.group_work_items.value_or(std::min(usual_group, most));
  if (work_items > most)
    return fmt::format("none: the kernel was compiled for groups of up to {} work-items, not {}", most, work_items);
  return occupancy_document(elf, kernel, {.work_items = work_items, .dynamic_lds_bytes = options.dynamic_lds_bytes});
}

}  // namespace

Document describe_kernel(const ElfView& elf, const detail::KernelMetadata& kernel, const DumpOptions& options) {
  const std::string name = detail::demangle(kernel.name);
  Document document;
  document["name"] = name;
  if (name != kernel.name) document["mangled_name"] = kernel.name;
  document["argument_bytes"] = kernel.kernarg_segment_size;
  document["arguments"] = describe_arguments(kernel, options.shows_implicit_arguments);
  document["registers"] = describe_registers(kernel);
  document["lds_bytes"] = kernel.group_segment_fixed_size;
  document["scratch_bytes_per_work_item"] = kernel.private_segment_fixed_size;
  document["dynamic_stack"] = kernel.uses_dynamic_stack;
  document["wavefront_size"] = kernel.wavefront_size;
  document["most_work_items_per_group"] = kernel.max_flat_workgroup_size;
  document["occupancy"] = describe_occupancy(elf, kernel, options);
  return document;
}
