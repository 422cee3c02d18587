// Memory at addresses that the caller hands out himself, as those do who call the kernel's interface.
#include <utility>

#include <sys/mman.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/thunk/memory.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t placed_page = 4096;
constexpr int anonymous_here = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

bool map_here(void* address, std::uint64_t size, int protection) noexcept {
  return mmap(address, size, protection, anonymous_here, -1, 0) != MAP_FAILED;
}

}  // namespace

void* Memory::reserve_addresses(std::uint64_t size, void* wanted) {
  const std::lock_guard lock(mutex_);
  size = round_up(size, placed_page);
  return wanted != nullptr ? window_.allocate_at(wanted, size, Pages::none)
                           : window_.allocate(size, placed_page, Pages::none);
}

bool Memory::release_addresses(void* address, std::uint64_t size) {
  const std::lock_guard lock(mutex_);
  return window_.free_part(address, round_up(size, placed_page));
}

HSAKMT_STATUS Memory::place(void* address, std::uint32_t node, std::uint64_t size, HsaMemFlags flags, Backing backing) {
  const auto base = reinterpret_cast<std::uint64_t>(address);
  if (node >= available_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (base == 0 || size == 0 || (base | size) % placed_page != 0) return HSAKMT_STATUS_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  if (window_.contains(base) && !window_.is_taken(base, size)) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (allocations_.contains(base)) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!reserve(node, size, flags)) return HSAKMT_STATUS_NO_MEMORY;
  if (backing == Backing::zeroed && !map_here(address, size, PROT_READ | PROT_WRITE)) {
    give_back(node, size, flags);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  if (!window_.contains(base)) accessible_.add(base, size);
  allocations_[base] = Block{.base = base,
                             .size = size,
                             .node = node,
                             .flags = flags,
                             .type = HSA_POINTER_ALLOCATED,
                             .user_data = nullptr,
                             .mapped_nodes = {},
                             .registrations = 0,
                             .file = {},
                             .placed = backing};
  tell_l2s(base, size, node, flags);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::import_file_at(int descriptor, void* address) {
  auto file = MemoryFile::import(descriptor);
  if (!file) return HSAKMT_STATUS_INVALID_HANDLE;
  const auto base = reinterpret_cast<std::uint64_t>(address);
  const std::uint64_t size = file->bytes();
  const std::lock_guard lock(mutex_);
  if (window_.contains(base) && !window_.is_taken(base, size)) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (allocations_.contains(base)) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!file->map(address, size)) return HSAKMT_STATUS_NO_MEMORY;
  if (!window_.contains(base)) accessible_.add(base, size);
  const MemoryFile::Origin origin = file->origin();
  HsaMemFlags flags{};
  flags.Value = origin.flags;
  // It counts for the process that allocated it.
  allocations_[base] = Block{.base = base,
                             .size = size,
                             .node = origin.node,
                             .flags = flags,
                             .type = HSA_POINTER_REGISTERED_GRAPHICS,
                             .user_data = nullptr,
                             .mapped_nodes = {},
                             .registrations = 0,
                             .file = std::move(file),
                             .placed = Backing::zeroed};
  return HSAKMT_STATUS_SUCCESS;
}

void Memory::unmap_placed(std::uint64_t base, std::uint64_t size, Backing backing) noexcept {
  if (!window_.contains(base)) accessible_.remove(base, size);
  // Where the system refuses, the pages stay until the caller unmaps them.
  if (backing == Backing::zeroed)
    static_cast<void>(map_here(command_processor::at_address<void>(base), size, PROT_NONE));
}

}  // namespace softgpu::thunk
