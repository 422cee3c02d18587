#include "dispatch/hostcall/device_heap.hpp"

#include "dispatch/hostcall/abi.hpp"

namespace fastdispatch::detail::hostcall {

DeviceHeap::~DeviceHeap() {
  for (const auto& [address, memory] : allocations_) agent_.api().amd_memory_pool_free(memory);
}

std::byte* DeviceHeap::take_from_pool(std::uint64_t bytes) const noexcept {
  void* memory = nullptr;
  if (agent_.api().amd_memory_pool_allocate(agent_.pools().coarse_grained, bytes, 0, &memory) != HSA_STATUS_SUCCESS)
    return nullptr;
  return static_cast<std::byte*>(memory);
}

std::uint64_t DeviceHeap::allocate(std::uint64_t bytes) {
  std::byte* memory = take_from_pool(bytes);
  auto address = reinterpret_cast<std::uintptr_t>(memory);
  // The driver aligns memory of this size to huge pages; nothing promises it.
  if (bytes == slab_bytes && address % slab_bytes != 0) {
    agent_.api().amd_memory_pool_free(memory);
    memory = take_from_pool(2 * slab_bytes);
    address = (reinterpret_cast<std::uintptr_t>(memory) + slab_bytes - 1) / slab_bytes * slab_bytes;
  }
  if (memory != nullptr) allocations_.emplace(address, memory);
  return address;
}

bool DeviceHeap::free(std::uint64_t address) noexcept {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  agent_.api().amd_memory_pool_free(found->second);
  allocations_.erase(found);
  return true;
}

}  // namespace fastdispatch::detail::hostcall
