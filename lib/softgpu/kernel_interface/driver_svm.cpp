// Shared virtual memory of the kernel's interface: the thunk's, with numbers of GPUs in the place of nodes.
#include <cerrno>
#include <span>
#include <vector>

#include "softgpu/kernel_interface/driver.hpp"

namespace softgpu::kernel_interface {
namespace {

bool is_location(std::uint32_t type) { return type == HSA_SVM_ATTR_PREFERRED_LOC || type == HSA_SVM_ATTR_PREFETCH_LOC; }

bool is_access(std::uint32_t type) {
  return type == HSA_SVM_ATTR_ACCESS || type == HSA_SVM_ATTR_ACCESS_IN_PLACE || type == HSA_SVM_ATTR_NO_ACCESS;
}

}  // namespace

bool Driver::to_node(std::uint32_t& location) const {
  if (location == abi::svm_host || location == abi::svm_nowhere) return true;
  const auto node = node_of(location);
  if (node) location = *node;
  return node.has_value();
}

void Driver::to_gpu_id(std::uint32_t& location) const {
  if (gpu_.topology.is_gpu(location)) location = thunk::Topology::gpu_id(location);
}

int Driver::shared_virtual_memory(abi::Svm& args) {
  const std::span told(reinterpret_cast<abi::SvmAttribute*>(&args + 1), args.count);
  std::vector<HSA_SVM_ATTRIBUTE> attributes;
  const bool sets = args.operation == abi::svm_set;
  for (auto [type, value] : told) {
    if ((is_access(type) || (is_location(type) && sets)) && !to_node(value)) return EINVAL;
    attributes.push_back({.type = type, .value = value});
  }
  if (sets) return error_number(gpu_.svm_ranges.set(args.address, args.size, attributes));
  const int error = error_number(gpu_.svm_ranges.get(args.address, args.size, attributes));
  for (std::uint32_t i = 0; i != args.count && error == 0; ++i) {
    auto [type, value] = attributes[i];
    if (is_access(type) || is_location(type)) to_gpu_id(value);
    told[i] = {.type = type, .value = value};
  }
  return error;
}

}  // namespace softgpu::kernel_interface
