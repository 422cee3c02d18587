#include "softgpu/compute/execution/kernel.hpp"

#include <cstring>

namespace softgpu::compute {

KernelDescriptor KernelDescriptor::parse(std::span<const std::byte, size> bytes) {
  const auto read = [&](std::size_t offset, auto& field) { std::memcpy(&field, &bytes[offset], sizeof field); };
  KernelDescriptor descriptor;
  read(0, descriptor.group_segment_bytes);
  read(4, descriptor.private_segment_bytes);
  read(8, descriptor.kernarg_bytes);
  read(16, descriptor.entry_offset);
  read(44, descriptor.rsrc3);
  read(48, descriptor.rsrc1);
  read(52, descriptor.rsrc2);
  read(56, descriptor.properties);
  return descriptor;
}

}  // namespace softgpu::compute
