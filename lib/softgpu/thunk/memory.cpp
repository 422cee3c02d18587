#include "softgpu/thunk/memory.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <sys/mman.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/compute/run_time/moving_memory.hpp"
#include "softgpu/thunk/hsakmt_6.hpp"
#include "softgpu/thunk/reserved_addresses.hpp"

namespace softgpu::thunk {
namespace {

constexpr std::uint64_t page = 4096;
constexpr std::uint64_t huge_page = std::uint64_t{2} << 20;
constexpr std::uint64_t largest_size = std::uint64_t{1} << 62;  // sizes and alignments add up without overflow

void* map_pages(void* where, std::uint64_t size, Pages pages) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (where != nullptr ? MAP_FIXED_NOREPLACE : 0);
  void* base = mmap(where, size, pages == Pages::zeroed ? PROT_READ | PROT_WRITE : PROT_NONE, flags, -1, 0);
  return base == MAP_FAILED ? nullptr : base;
}

/// Pages at a multiple of `alignment`, or null.
void* map_aligned(std::uint64_t size, std::uint64_t alignment, Pages pages) {
  if (alignment <= page) return map_pages(nullptr, size, pages);
  auto* raw = static_cast<std::byte*>(map_pages(nullptr, size + alignment, pages));
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

bool is_handle(HsaMemFlags flags) { return (flags.Value & memory_without_address) != 0; }
bool is_addresses(HsaMemFlags flags) { return (flags.Value & address_without_memory) != 0; }
Pages pages_of(HsaMemFlags flags) { return is_handle(flags) || is_addresses(flags) ? Pages::none : Pages::zeroed; }

/// Memory of a file that another process, or another part of this one, has exported.
bool is_imported(HSA_POINTER_TYPE type) {
  return type == HSA_POINTER_REGISTERED_GRAPHICS || type == HSA_POINTER_REGISTERED_SHARED;
}

/// Pages of zeros stay holes in the file.
void copy_pages(const std::byte* from, std::byte* to, std::uint64_t size) {
  static constexpr std::byte zeros[page] = {};
  for (std::uint64_t at = 0; at != size; at += page)
    if (std::memcmp(from + at, zeros, page) != 0) std::memcpy(to + at, from + at, page);
}

}  // namespace

Memory::Memory(std::uint32_t node_count, const Limits& limits, compute::L2Caches* l2s, Users users)
    : available_(node_count, limits.device_bytes), l2s_(l2s), users_(std::move(users)) {
  available_.at(0) = limits.host_bytes;
}

void* Memory::map_memory(void* fixed, std::uint64_t size, std::uint64_t alignment, Pages pages) {
  if (void* base =
          fixed == nullptr ? window_.allocate(size, alignment, pages) : window_.allocate_at(fixed, size, pages))
    return base;
  void* base = fixed != nullptr ? map_pages(fixed, size, pages) : map_aligned(size, alignment, pages);
  if (base != nullptr && pages == Pages::zeroed) accessible_.add(reinterpret_cast<std::uint64_t>(base), size);
  return base;
}

void Memory::unmap_memory(void* address, std::uint64_t size, Pages pages) noexcept {
  if (window_.contains(reinterpret_cast<std::uint64_t>(address))) return window_.free(address);
  if (pages == Pages::zeroed) accessible_.remove(reinterpret_cast<std::uint64_t>(address), size);
  munmap(address, size);
}

bool Memory::reserve(std::uint32_t node, std::uint64_t size, HsaMemFlags flags) {
  // Scratch is an address range that ROCr hands out in pieces; only pages that kernels touch become memory.
  if (flags.ui32.Scratch != 0 || is_addresses(flags)) return true;
  if (size > available_[node]) return false;
  available_[node] -= size;
  return true;
}

void Memory::give_back(std::uint32_t node, std::uint64_t size, HsaMemFlags flags) noexcept {
  if (flags.ui32.Scratch == 0 && !is_addresses(flags)) available_[node] += size;
}

HSAKMT_STATUS Memory::allocate(std::uint32_t node, std::uint64_t size, HsaMemFlags flags, void*& address,
                               std::uint64_t alignment) {
  if (node >= available_.size()) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (size == 0 || size > largest_size || alignment > largest_size) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (is_handle(flags) && is_addresses(flags)) return HSAKMT_STATUS_INVALID_PARAMETER;
  size = round_up(size, page);
  alignment = std::max(alignment, size >= huge_page ? huge_page : page);
  const std::lock_guard lock(mutex_);
  if (!reserve(node, size, flags)) return HSAKMT_STATUS_NO_MEMORY;

  std::optional<MemoryFile> file;
  if (is_handle(flags)) file = MemoryFile::create(size, {.node = node, .flags = flags.Value});
  void* base = nullptr;
  if (!is_handle(flags) || file)
    base = map_memory(flags.ui32.FixedAddress != 0 ? address : nullptr, size, alignment, pages_of(flags));
  if (base == nullptr) {
    give_back(node, size, flags);
    return HSAKMT_STATUS_NO_MEMORY;
  }
  // Kernels walk through images and matrices whose rows are pages apart.
  const bool is_memory = pages_of(flags) == Pages::zeroed && flags.ui32.Scratch == 0;
  if (is_memory && size >= huge_page) madvise(base, size, MADV_HUGEPAGE);
  const auto key = reinterpret_cast<std::uint64_t>(base);
  allocations_[key] = Block{.base = key,
                            .size = size,
                            .node = node,
                            .flags = flags,
                            .type = is_addresses(flags) ? pointer_to_reserved_addresses : HSA_POINTER_ALLOCATED,
                            .user_data = nullptr,
                            .mapped_nodes = {},
                            .registrations = 0,
                            .file = std::move(file),
                            .placed = {}};
  if (is_memory) tell_l2s(key, size, node, flags);
  address = base;
  return HSAKMT_STATUS_SUCCESS;
}

void Memory::tell_l2s(std::uint64_t base, std::uint64_t size, std::uint32_t node, HsaMemFlags flags) {
  if (l2s_ == nullptr) return;
  if (flags.ui32.CoarseGrain == 0)
    l2s_->add_fine_grained(base, size);
  else if (node != 0)
    l2s_->add(base, size);
}

std::uint64_t Memory::available(std::uint32_t node) {
  const std::lock_guard lock(mutex_);
  return available_.at(node);
}

HSAKMT_STATUS Memory::free(void* address) {
  const auto key = reinterpret_cast<std::uint64_t>(address);
  std::uint64_t size = 0;
  HsaMemFlags flags{};
  std::optional<Backing> placed;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(key);
    if (found == allocations_.end()) return HSAKMT_STATUS_INVALID_HANDLE;
    size = found->second.size;
  }
  // Outside the lock, as is the release: forgetting a translation may wait for one that is being made.
  if (users_.need(key, size)) return HSAKMT_STATUS_UNAVAILABLE;
  {
    const std::lock_guard lock(mutex_);
    const auto found = allocations_.find(key);
    if (found == allocations_.end()) return HSAKMT_STATUS_INVALID_HANDLE;  // another thread has freed it
    const Block& block = found->second;
    size = block.size;
    flags = block.flags;
    placed = block.placed;
    if (!is_imported(block.type)) give_back(block.node, size, flags);
    allocations_.erase(found);
  }
  users_.release(key, size);
  if (l2s_ != nullptr) l2s_->remove(key);
  const std::lock_guard lock(mutex_);
  if (placed) {
    unmap_placed(key, size, *placed);
    return HSAKMT_STATUS_SUCCESS;
  }
  // Addresses that others have are never handed out again.
  if (!is_addresses(flags) || !is_used_by_others(key, size)) unmap_memory(address, size, pages_of(flags));
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
  std::unique_lock lock(mutex_);
  if (const auto imported = allocations_.find(reinterpret_cast<std::uint64_t>(address));
      imported != allocations_.end() && is_imported(imported->second.type)) {
    lock.unlock();
    return free(address);
  }
  const auto found = registrations_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == registrations_.end()) return HSAKMT_STATUS_MEMORY_NOT_REGISTERED;
  if (--found->second.registrations != 0) return HSAKMT_STATUS_SUCCESS;
  accessible_.remove(found->first, found->second.size);
  registrations_.erase(found);
  return HSAKMT_STATUS_SUCCESS;
}

Memory::Block* Memory::find_allocation(const void* address) {
  const auto wanted = reinterpret_cast<std::uint64_t>(address);
  const auto after = allocations_.upper_bound(wanted);
  if (after == allocations_.begin()) return nullptr;
  Block& block = std::prev(after)->second;
  return contains(block.base, block.size, wanted) ? &block : nullptr;
}

const Memory::Block* Memory::find_handle(const MemoryFile& file) const {
  for (const auto& [address, block] : allocations_)
    if (is_handle(block.flags) && block.file->identity() == file.identity()) return &block;
  return nullptr;
}

Memory::Block* Memory::find(const void* address) {
  if (Block* block = find_allocation(address)) return block;
  const auto wanted = reinterpret_cast<std::uint64_t>(address);
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

void Memory::make_accessible(std::uint64_t base, std::uint64_t size) {
  accessible_.add(base, size);
  if (size >= huge_page) madvise(command_processor::at_address<void>(base), size, MADV_HUGEPAGE);  // as in allocate()
}

bool Memory::move_to_file(Block& block) {
  auto file = MemoryFile::create(block.size, {.node = block.node, .flags = block.flags.Value});
  if (!file) return false;
  void* pages = mmap(nullptr, block.size, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor(), 0);
  if (pages == MAP_FAILED) return false;
  auto* memory = command_processor::at_address<std::byte>(block.base);
  bool is_moved = false;
  {
    const compute::MovingMemory writers_wait(block.base, block.size);
    if (mprotect(memory, block.size, PROT_READ) == 0) {
      copy_pages(memory, static_cast<std::byte*>(pages), block.size);
      is_moved = file->map(memory, block.size);
      if (!is_moved) mprotect(memory, block.size, PROT_READ | PROT_WRITE);
    }
  }
  munmap(pages, block.size);
  if (is_moved) block.file = std::move(file);
  return is_moved;
}

HSAKMT_STATUS Memory::export_file(const void* address, std::uint64_t size, int& descriptor, std::uint64_t& offset) {
  const std::lock_guard lock(mutex_);
  Block* block = find_allocation(address);
  if (block == nullptr || is_addresses(block->flags) || block->flags.ui32.Scratch != 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  offset = reinterpret_cast<std::uint64_t>(address) - block->base;
  if (size > block->size - offset) return HSAKMT_STATUS_INVALID_PARAMETER;
  const MemoryFile* file = file_of(*block);
  if (file == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  descriptor = file->duplicate();
  return descriptor >= 0 ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_OUT_OF_RESOURCES;
}

const MemoryFile* Memory::file_of(Block& block) { return block.file || move_to_file(block) ? &*block.file : nullptr; }

HSAKMT_STATUS Memory::share(const void* address, SharedHandle& handle) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uint64_t>(address));
  if (found == allocations_.end() || is_addresses(found->second.flags) || found->second.flags.ui32.Scratch != 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  const MemoryFile* file = file_of(found->second);
  if (file == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  handle = shared_handle(*file);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Memory::import_file(int descriptor, Import as, Imported& imported) {
  auto file = MemoryFile::import(descriptor);
  if (!file) return HSAKMT_STATUS_INVALID_HANDLE;
  const std::lock_guard lock(mutex_);
  // The exporting process may have more GPUs. ROCr takes the node for a GPU's even if the memory is the host's.
  const std::uint32_t origin = file->origin().node;
  const std::uint32_t node = origin == 0 || origin >= available_.size() ? 1 : origin;
  const std::uint64_t size = file->bytes();
  imported = {.bytes = size, .node = node};
  if (const Block* known = as == Import::handle ? find_handle(*file) : nullptr) {
    imported.address = command_processor::at_address<void>(known->base);
    return HSAKMT_STATUS_SUCCESS;
  }

  HsaMemFlags flags{};
  flags.Value = file->origin().flags & ~(memory_without_address | address_without_memory);
  if (as == Import::handle) flags.Value |= memory_without_address;
  void* base = map_memory(nullptr, size, size >= huge_page ? huge_page : page, pages_of(flags));
  if (base == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  if (as != Import::handle && !file->map(base, size)) {
    unmap_memory(base, size, pages_of(flags));
    return HSAKMT_STATUS_NO_MEMORY;
  }
  // It counts for the process that allocated it.
  const auto key = reinterpret_cast<std::uint64_t>(base);
  allocations_[key] =
      Block{.base = key,
            .size = size,
            .node = node,
            .flags = flags,
            .type = as == Import::shared ? HSA_POINTER_REGISTERED_SHARED : HSA_POINTER_REGISTERED_GRAPHICS,
            .user_data = nullptr,
            .mapped_nodes = {},
            .registrations = 0,
            .file = std::move(file),
            .placed = {}};
  imported.address = base;
  return HSAKMT_STATUS_SUCCESS;
}

bool Memory::has_no_memory(std::uint64_t base, std::uint64_t size) {
  const Block* block = find_allocation(command_processor::at_address<void>(base));
  if (block == nullptr) return window_.is_taken(base, size);  // reserve_addresses()
  return is_addresses(block->flags) && size <= block->base + block->size - base;
}

HSAKMT_STATUS Memory::map_file(const MemoryFile& file, std::uint64_t offset, std::uint64_t size, void* address) {
  const std::lock_guard lock(mutex_);
  const auto base = reinterpret_cast<std::uint64_t>(address);
  if (size == 0 || !has_no_memory(base, size)) return HSAKMT_STATUS_INVALID_PARAMETER;
  if (offset > file.bytes() || size > file.bytes() - offset || (base | offset | size) % page != 0)
    return HSAKMT_STATUS_INVALID_PARAMETER;
  if (!file.map(address, size, offset)) return HSAKMT_STATUS_NO_MEMORY;
  if (!window_.contains(base)) accessible_.add(base, size);
  return HSAKMT_STATUS_SUCCESS;
}

void Memory::unmap_file(const MemoryFile& file, std::uint64_t size, void* address) {
  const auto base = reinterpret_cast<std::uint64_t>(address);
  users_.release(base, size);  // outside the lock, as in free()
  if (!window_.contains(base)) accessible_.remove(base, size);
  keep_reserved(file, size, address);
}

void Memory::keep_reserved(const MemoryFile& file, std::uint64_t size, void* address) {
  const std::lock_guard lock(mutex_);
  const auto base = reinterpret_cast<std::uint64_t>(address);
  if (has_no_memory(base, size)) reserve_again(base, size, file.identity());  // addresses may be freed by now
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
