#include "fastdispatch/pinned_memory_resource.hpp"

#include <new>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/memory/host_access.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch {
namespace {
constexpr std::size_t page = 4096;  // HSA's pools align allocations to a page at least
}

void* PinnedMemoryResource::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment > page) throw std::bad_alloc();
  const detail::HsaApi& api = agent_.api();
  void* memory = nullptr;
  // A memory resource hands out a distinct address even for no bytes.
  const std::size_t size = bytes == 0 ? 1 : bytes;
  if (api.amd_memory_pool_allocate(agent_.pools().fine_grained, size, 0, &memory) != HSA_STATUS_SUCCESS) {
    throw std::bad_alloc();
  }
  try {
    if (detail::allow_every_gpu(agent_, memory) != HSA_STATUS_SUCCESS) throw std::bad_alloc();
    detail::state_of(agent_).host->buffers.add(static_cast<std::byte*>(memory), size, name_);
  } catch (...) {
    api.amd_memory_pool_free(memory);
    throw;
  }
  return memory;
}

void PinnedMemoryResource::do_deallocate(void* memory, std::size_t /*bytes*/, std::size_t /*alignment*/) {
  detail::state_of(agent_).host->buffers.remove(static_cast<const std::byte*>(memory));
  agent_.api().amd_memory_pool_free(memory);
}

bool PinnedMemoryResource::do_is_equal(const std::pmr::memory_resource& other) const noexcept {
  const auto* same = dynamic_cast<const PinnedMemoryResource*>(&other);
  return same != nullptr && same->agent_ == agent_;
}

}  // namespace fastdispatch
