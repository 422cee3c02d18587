// How well a kernel fills a GPU, in words and numbers.
#pragma once

#include "document.hpp"
#include "machine_code.hpp"

#include "softgpu/compute/execution/kernel.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"

/// For work-groups of this shape.
[[nodiscard]] Document occupancy_document(const softgpu::compute::Architecture& architecture,
                                          const softgpu::compute::KernelDescriptor& descriptor,
                                          const fastdispatch::detail::KernelMetadata& kernel, const GroupShape& group);
