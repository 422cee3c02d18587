#include "softgpu/thunk/memory.hpp"

#include <algorithm>
#include <utility>

#include <sys/mman.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 62;  // sizes and alignments add up without overflow

void* map_pages(void* where, std::uint64_t size) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where != nullptr ? MAP_FIXED_NOREPLACE : 0);
  void* base = mmap(where, size, PROT_READ | PROT_WRITE, flags, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}

/// Zeroed pages at a multiple of `alignment`, or null.
void* map_aligned(std::uint64_t size, std::uint64_t alignment) {
  if (alignment <= page) return map_pages(nullptr, size);
  auto* raw = static_cast<std::byte*>(map_pages(nullptr, size + alignment));
  if (raw == nullptr) return nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(raw);
  const std::uint64_t before = round_up(address, alignment) - address;
  if (before != 0) munmap(raw, before);
  munmap(raw + before + size, alignment - before);
  return raw + before;
}

bool contains(std::uint64_t base, std::uint64_t size, std::uint64_t address) {
  return address >= base && address - base < size;
}

}  // namespace

Memory::Memory(std::uint32_t node_count, const Limits& limits, compute::L2Caches* l2s, Release release)
    : available_(node_count, limits.device_bytes), l2s_(l2s), release_(std::move(release)) {
  available_.at(0) = limits.host_bytes;
}

void* Memory::map_memory(void* fixed, std::uint64_t size, std::uint64_t alignment) {
  if (void* base = fixed == nullptr ? window_.allocate(size, alignment) : window_.allocate_at(fixed, size)) return base;
  void* base = fixed != nullptr ? map_pages(fixed, size) : map_aligned(size, alignment);
  if (base != nullptr) accessible_.add(reinterpret_cast<std::uint64_t>(base), size);
  return base;
}

void Memory::unmap_memory(void* address, std::uint64_t size) noexcept {
  const std::lock_guard lock(mutex_);
  if (window_.contains(reinterpret_cast<std::uint64_t>(address))) return window_.free(address);
  accessible_.remove(reinterpret_cast<std::uint64_t>(address), size);
  munmap(address, size);
}

bool Memory::reserve(std::uint32_t node, std::uint64_t size, HsaMemFlags flags) {
  // Scratch is an address range that ROCr hands out in pieces; only pages that kernels touch become memory.
  if (flags.ui32.Scratch != 0) return true;
  if (size > available_[node]) return false;
  available_[node] -= size;
  return true;
}

void Memory::give_back(std::uint32_t node, std::uint64_t size, HsaMemFlags flags) noexcept {
  if (flags.ui32.Scratch == 0) available_[node] += size;
}

HSAKMT_STATUS Memory::allocate(std::uint32_t node, std::uint64_t size, HsaMemFlags flags, void*& address,
                               std::uint64_t alignment) {
  if (node >= available_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (size == 0 || size > largest_size || alignment > largest_size) return HSAKMT_STATUS_INVALID_PARAMETER;
  if ((flags.Value & (memory_without_address | address_without_memory)) != 0) return HSAKMT_STATUS_NOT_SUPPORTED;
  size = round_up(size, page);
  alignment = std::max(alignment, size >= huge_page ? huge_page : page);
  const std::lock_guard lock(mutex_);
  if (!reserve(node, size, flags)) return HSAKMT_STATUS_NO_MEMORY;

  void* base = map_memory(flags.ui32.FixedAddress != 0 ? address : nullptr, size, alignment);
  if (base == nullptr) {
    give_back(node, size, flags);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  // Kernels walk through images and matrices whose rows are pages apart.
  if (size >= huge_page && flags.ui32.Scratch == 0) madvise(base, size, MADV_HUGEPAGE);
  const auto key = reinterpret_cast<std::uint64_t>(base);
  allocations_[key] = Block{.base = key,
                            .size = size,
                            .node = node,
                            .flags = flags,
                            .type = HSA_POINTER_ALLOCATED,
                            .user_data = nullptr,
                            .mapped_nodes = {},
                            .registrations = 0};
  if (l2s_ != nullptr && node != 0 && flags.ui32.CoarseGrain != 0 && flags.ui32.Scratch == 0) l2s_->add(key, size);
  address = base;
  return HSAKMT_STATUS_SUCCESS;
}

std::uint64_t Memory::available(std::uint32_t node) {
  const std::lock_guard lock(mutex_);
  return available_.at(node);
}

HSAKMT_STATUS Memory::free(void* address) {
  std::uint64_t size = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(reinterpret_cast<std::uint64_t>(address));
    if (found == allocations_.end()) return HSAKMT_STATUS_INVALID_HANDLE;
    const Block& block = found->second;
    size = block.size;
    give_back(block.node, size, block.flags);
    allocations_.erase(found);
  }
  // Outside the lock: forgetting a translation may wait for one that is being made.
  release_(reinterpret_cast<std::uint64_t>(address), size);
  if (l2s_ != nullptr) l2s_->remove(reinterpret_cast<std::uint64_t>(address));
  unmap_memory(address, size);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::register_host(void* address, std::uint64_t size, HsaMemFlags flags) {
  if (address == nullptr || size == 0) return HSAKMT_STATUS_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  const auto key = reinterpret_cast<std::uint64_t>(address);
  const auto allocation = allocations_.upper_bound(key);
  if (allocation != allocations_.begin() &&
      contains(std::prev(allocation)->first, std::prev(allocation)->second.size, key))
    return HSAKMT_STATUS_SUCCESS;  // known already

  Block& block = registrations_[key];
  if (block.registrations++ == 0) {
    block.base = key;
    block.flags = flags;
    block.node = 0;
    block.type = HSA_POINTER_REGISTERED_USER;
  }
  if (size > block.size) {
    accessible_.add(key, size);
    if (block.size != 0) accessible_.remove(key, block.size);
    block.size = size;
  }
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::deregister(void* address) {
  const std::lock_guard lock(mutex_);
  const auto found = registrations_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == registrations_.end()) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  if (--found->second.registrations != 0) return HSAKMT_STATUS_SUCCESS;
  accessible_.remove(found->first, found->second.size);
  registrations_.erase(found);
  return HSAKMT_STATUS_SUCCESS;
}

Memory::Block* Memory::find(const void* address) {
  const auto wanted = reinterpret_cast<std::uint64_t>(address);
  if (const auto after = allocations_.upper_bound(wanted); after != allocations_.begin()) {
    Block& block = std::prev(after)->second;
    if (contains(block.base, block.size, wanted)) return &block;
  }
  // The registration that starts last wins: the most specific one.
  for (auto after = registrations_.upper_bound(wanted); after != registrations_.begin();) {
    Block& block = (--after)->second;
    if (contains(block.base, block.size, wanted)) return &block;
  }
  return nullptr;
}

HSAKMT_STATUS Memory::map(void* address, std::vector<HSAuint32> nodes) {
  const std::lock_guard lock(mutex_);
  Block* block = find(address);
  if (block == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  block->mapped_nodes = std::move(nodes);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::query(const void* address, HsaPointerInfo& info) {
  info = {};
  const std::lock_guard lock(mutex_);
  Block* block = find(address);
  if (block == nullptr) return HSAKMT_STATUS_ERROR;
  info.Type = block->type;
  info.Node = block->node;
  info.MemFlags = block->flags;
  info.CPUAddress = command_processor::at_address<void>(block->base);
  info.GPUAddress = block->base;
  info.SizeInBytes = block->size;
  info.NMappedNodes = static_cast<HSAuint32>(block->mapped_nodes.size());
  info.MappedNodes = block->mapped_nodes.data();
  info.UserData = block->user_data;
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::set_user_data(const void* address, void* user_data) {
  const std::lock_guard lock(mutex_);
  Block* block = find(address);
  if (block == nullptr) return HSAKMT_STATUS_ERROR;
  block->user_data = user_data;
  return HSAKMT_STATUS_SUCCESS;
}

}  // namespace softgpu::thunk
