// A work-group that has begun and that no worker runs now.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/command_processor/dispatch.hpp"

namespace softgpu::command_processor {

struct SetAsideGroup {
  std::shared_ptr<Dispatch> dispatch;
  std::unique_ptr<compute::SuspendedGroup> group;  // before the dispatch in destruction
  std::uint64_t since = 0;                         // when it was set aside first, by gpu_clock()
};

}  // namespace softgpu::command_processor
