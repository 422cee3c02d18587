#include "softgpu/kernel_interface/memory_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

#include <unistd.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/thunk/hsakmt_6.hpp"

namespace softgpu::kernel_interface {
namespace {

using thunk::Memory;

constexpr std::uint32_t device_pages = abi::doorbells | abi::registers;

}  // namespace

HsaMemFlags thunk_flags(std::uint32_t kernel_flags) noexcept {
  HsaMemFlags flags{};
  flags.ui32.NonPaged = (kernel_flags & abi::vram) != 0 ? 1 : 0;
  flags.ui32.ReadOnly = (kernel_flags & abi::writable) == 0 ? 1 : 0;
  flags.ui32.ExecuteAccess = (kernel_flags & abi::executable) != 0 ? 1 : 0;
  flags.ui32.HostAccess = (kernel_flags & abi::host_visible) != 0 ? 1 : 0;
  flags.ui32.CoarseGrain = (kernel_flags & (abi::coherent | abi::uncached)) == 0 ? 1 : 0;
  return flags;
}

std::uint32_t kernel_flags(std::uint32_t node, HsaMemFlags flags) noexcept {
  std::uint32_t kernel_flags = node != 0 ? abi::vram : abi::gtt;
  if (flags.ui32.ReadOnly == 0) kernel_flags |= abi::writable;
  if (flags.ui32.ExecuteAccess != 0) kernel_flags |= abi::executable;
  if (flags.ui32.HostAccess != 0) kernel_flags |= abi::host_visible;
  if (flags.ui32.CoarseGrain == 0) kernel_flags |= abi::coherent;
  return kernel_flags;
}

int error_number(HSAKMT_STATUS status) noexcept {
  switch (status) {
  case HSAKMT_STATUS_SUCCESS:
    return 0;
  case HSAKMT_STATUS_NO_MEMORY:
    return ENOMEM;
  case HSAKMT_STATUS_NOT_SUPPORTED:
    return EPERM;
  case HSAKMT_STATUS_OUT_OF_RESOURCES:
    return ENOSPC;
  case HSAKMT_STATUS_UNAVAILABLE:
    return EBUSY;
  default:
    return EINVAL;
  }
}

std::uint64_t MemoryObjects::add(const Object& object) {
  const std::lock_guard lock(mutex_);
  objects_[next_handle_] = object;
  return next_handle_++;
}

std::optional<MemoryObjects::Object> MemoryObjects::find(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(handle);
  return found != objects_.end() ? std::optional(found->second) : std::nullopt;
}

int MemoryObjects::allocate(abi::AllocateMemory& args, std::uint32_t node) {
  Object object{.address = command_processor::at_address<void>(args.address), .size = args.size};
  if ((args.flags & device_pages) != 0) {
    object.is_memory = false;
    args.mmap_offset = file_.registers_offset(node - 1);  // of doorbells, the queue has told where they are
    args.handle = add(object);
    return 0;
  }
  HsaMemFlags flags = thunk_flags(args.flags);
  HSAKMT_STATUS status = HSAKMT_STATUS_INVALID_PARAMETER;
  if ((args.flags & abi::user_pointer) != 0) {
    // The GPU's addresses are the host's, so that memory of the program's cannot be at others too.
    if (args.mmap_offset == args.address)
      status = memory_.place(object.address, 0, args.size, flags, Memory::Backing::given);
  } else if (object.address != nullptr) {
    status = memory_.place(object.address, (args.flags & abi::vram) != 0 ? node : 0, args.size, flags,
                           Memory::Backing::zeroed);
    args.mmap_offset = 0;  // it is mapped already
  } else {
    flags.Value |= thunk::memory_without_address;
    status = memory_.allocate((args.flags & abi::vram) != 0 ? node : 0, args.size, flags, object.address);
  }
  if (status == HSAKMT_STATUS_SUCCESS) args.handle = add(object);
  return error_number(status);
}

int MemoryObjects::free(std::uint64_t handle) {
  std::unique_lock lock(mutex_);
  auto entry = objects_.extract(handle);
  if (entry.empty()) return EINVAL;
  const Object object = entry.mapped();
  // Memory without an address may have been imported twice.
  const bool has_another =
      std::ranges::any_of(objects_, [&](const auto& other) { return other.second.address == object.address; });
  if (has_another || !object.is_memory) return 0;
  lock.unlock();
  const int error = error_number(memory_.free(object.address));
  if (error != EBUSY) return error;
  lock.lock();
  objects_.insert(std::move(entry));
  return error;
}

int MemoryObjects::check(std::uint64_t handle) { return find(handle) ? 0 : EINVAL; }

void* MemoryObjects::address_of(std::uint64_t handle) {
  const auto object = find(handle);
  return object ? object->address : nullptr;
}

int MemoryObjects::export_file(std::uint64_t handle, std::uint32_t& descriptor) {
  const auto object = find(handle);
  if (!object || !object->is_memory) return EINVAL;
  int file = -1;
  std::uint64_t offset = 0;
  const HSAKMT_STATUS status = memory_.export_file(object->address, object->size, file, offset);
  descriptor = static_cast<std::uint32_t>(file);
  return error_number(status);
}

int MemoryObjects::import_file(abi::ImportDmabuf& args) {
  const int file = static_cast<int>(args.descriptor);
  Memory::Imported imported{.address = command_processor::at_address<void>(args.address)};
  const HSAKMT_STATUS status = imported.address != nullptr
                                   ? memory_.import_file_at(file, imported.address)
                                   : memory_.import_file(file, Memory::Import::handle, imported);
  if (status == HSAKMT_STATUS_SUCCESS) args.handle = add({.address = imported.address, .size = imported.bytes});
  return error_number(status);
}

int MemoryObjects::share(std::uint64_t handle, thunk::SharedHandle& shared) {
  const auto object = find(handle);
  return object && object->is_memory ? error_number(memory_.share(object->address, shared)) : EINVAL;
}

int MemoryObjects::import_shared(abi::ImportShared& args) {
  const int file = thunk::open_shared(args.shared);
  if (file < 0) return EINVAL;
  abi::ImportDmabuf imported{
      .address = args.address, .handle = 0, .gpu_id = args.gpu_id, .descriptor = static_cast<std::uint32_t>(file)};
  const int error = args.address != 0 ? import_file(imported) : EINVAL;
  close(file);
  args.handle = imported.handle;
  constexpr std::uint64_t somewhere = 4096;  // it is mapped already, but has to look as if it could be
  args.mmap_offset = somewhere;
  args.flags = 0;
  return error;
}

}  // namespace softgpu::kernel_interface
