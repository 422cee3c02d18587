#include "dispatch/record/access.hpp"

#include "dispatch/record/fence_rules.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {
namespace {

Access access(const std::byte* address, std::size_t size, AccessMode mode, FenceScope scope) {
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  return {.begin = begin, .end = begin + size, .mode = mode, .scope = scope};
}

Access look_up(Agent agent, const StatedAccess& stated) {
  const auto& [memory, mode, anywhere] = stated;
  const bool has_size = memory.size != StatedAccess::unknown_size;
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  const hsa_status_t status = agent.api().amd_pointer_info(memory.address, &info, nullptr, nullptr, nullptr);
  const bool locked = info.type == HSA_EXT_POINTER_TYPE_LOCKED;
  if (status != HSA_STATUS_SUCCESS || (info.type != HSA_EXT_POINTER_TYPE_HSA && !locked))
    return has_size ? access(memory.address, memory.size, mode, fences::scope_of_memory(false)) : everywhere(mode);

  const auto* base = static_cast<const std::byte*>(locked ? info.hostBaseAddress : info.agentBaseAddress);
  const bool own = !locked && info.agentOwner.handle == agent.handle().handle;
  const FenceScope scope = fences::scope_of_memory(own);
  if (!has_size) return access(base, info.sizeInBytes, mode, scope);
  // The agent's address of locked memory may differ from the host's.
  const auto offset =
      reinterpret_cast<std::uintptr_t>(memory.address) - reinterpret_cast<std::uintptr_t>(info.agentBaseAddress);
  const std::byte* address = locked && offset < info.sizeInBytes ? base + offset : memory.address;
  return access(address, memory.size, mode, scope);
}

}  // namespace

Access access_by_copy(const MemoryView& memory, AccessMode mode) noexcept {
  return access(memory.address, memory.size, mode, fences::scope_of_memory(false));
}

Access resolve(Agent agent, const StatedAccess& stated) {
  const auto& [memory, mode, anywhere] = stated;
  if (anywhere) return everywhere(mode);
  if (mode == AccessMode::none || memory.address == nullptr || memory.size == 0) return {};
  if (!memory.agent) return look_up(agent, stated);
  const bool own = memory.kind == MemoryKind::device && *memory.agent == agent;
  return access(memory.address, memory.size, mode, fences::scope_of_memory(own));
}

}  // namespace fastdispatch::detail
