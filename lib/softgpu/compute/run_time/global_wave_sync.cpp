#include "softgpu/compute/run_time/global_wave_sync.hpp"

namespace softgpu::compute {

GlobalWaveSync::Wait GlobalWaveSync::carry_out(GlobalSync instruction, std::uint32_t resource, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  Resource& target = resources_[resource % resource_count];
  switch (instruction) {
  case GlobalSync::init:
    target.count = value;
    return {};
  case GlobalSync::barrier:
    if (target.count != 0) {
      --target.count;
      return {.kind = Wait::Kind::barrier, .resource = resource, .release = target.releases};
    }
    ++target.releases;
    target.count = value;
    return {};
  case GlobalSync::raise:
    ++target.count;
    return {};
  case GlobalSync::raise_by:
    target.count += value;
    return {};
  case GlobalSync::lower:
    if (target.count == 0) return {.kind = Wait::Kind::semaphore, .resource = resource, .release = target.releases};
    --target.count;
    return {};
  case GlobalSync::release_all:
    ++target.releases;
    return {};
  }
  return {};
}

bool GlobalWaveSync::is_over(const Wait& wait) {
  if (wait.kind == Wait::Kind::done) return true;
  const std::lock_guard lock(mutex_);
  Resource& target = resources_[wait.resource % resource_count];
  if (target.releases != wait.release) return true;
  if (wait.kind == Wait::Kind::barrier || target.count == 0) return false;
  --target.count;
  return true;
}

}  // namespace softgpu::compute
