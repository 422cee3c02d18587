#include "softgpu/compute/profile/kernel_profile.hpp"

#include <algorithm>

namespace softgpu::compute::profile {

Category category_of(std::string_view mnemonic) {
  const auto begins = [&](std::string_view beginning) { return mnemonic.starts_with(beginning); };
  if (begins("v_")) return Category::vector;
  if (begins("ds_gws")) return Category::other;
  if (begins("ds_")) return Category::lds;
  if (begins("global_") || begins("flat_") || begins("scratch_") || begins("buffer_") || begins("tbuffer_"))
    return direction_of(mnemonic) == Direction::load && mnemonic.find("load") == std::string_view::npos
               ? Category::other  // cache maintenance
               : Category::memory;
  if (begins("s_load") || begins("s_buffer_") || begins("s_store") || begins("s_scratch") || begins("s_atomic"))
    return Category::scalar_memory;
  if (begins("s_barrier")) return Category::barrier;
  if (begins("s_branch") || begins("s_cbranch") || begins("s_setpc") || begins("s_swappc") || begins("s_call"))
    return Category::branch;
  if (begins("s_waitcnt") || begins("s_nop") || begins("s_endpgm") || begins("s_sleep") || begins("s_clause") ||
      begins("s_delay") || begins("s_inst_prefetch") || begins("s_set_inst_prefetch") || begins("s_dcache") ||
      begins("s_icache") || begins("s_sendmsg") || begins("s_trap") || begins("s_setprio"))
    return Category::other;
  return begins("s_") ? Category::scalar : Category::other;
}

Direction direction_of(std::string_view mnemonic) {
  const auto has = [&](std::string_view part) { return mnemonic.find(part) != std::string_view::npos; };
  if (has("store") && !has("cmpstore")) return Direction::store;
  if (has("ds_write")) return Direction::store;
  if (has("load") || has("ds_read")) return Direction::load;
  return has("atomic") || mnemonic.starts_with("ds_") ? Direction::atomic : Direction::load;
}

std::vector<const InstructionCounts*> KernelProfile::instructions() const {
  const std::lock_guard lock(mutex_);
  std::vector<const InstructionCounts*> result;
  result.reserve(instructions_.size());
  for (const auto& [key, instruction] : instructions_) result.push_back(instruction.get());
  return result;
}

KernelProfile& Profile::kernel(const std::string& name, std::string_view architecture, std::uint32_t lanes) {
  const std::lock_guard lock(mutex_);
  const auto is_it = [&](const auto& each) {
    return each->name() == name && each->architecture() == architecture && each->lanes() == lanes;
  };
  const auto found = std::ranges::find_if(kernels_, is_it);
  if (found != kernels_.end()) return **found;
  return *kernels_.emplace_back(std::make_unique<KernelProfile>(name, std::string(architecture), lanes));
}

std::vector<const KernelProfile*> Profile::kernels() const {
  const std::lock_guard lock(mutex_);
  std::vector<const KernelProfile*> result;
  result.reserve(kernels_.size());
  for (const auto& kernel : kernels_) result.push_back(kernel.get());
  return result;
}

}  // namespace softgpu::compute::profile
