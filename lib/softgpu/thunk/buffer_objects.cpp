#include "softgpu/thunk/buffer_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace softgpu::thunk {

BufferObjects::Object* BufferObjects::find(const void* object) {
  const auto found = objects_.find(object);
  return found == objects_.end() ? nullptr : found->second.get();
}

std::optional<BufferObjects::Imported> BufferObjects::import(int descriptor) {
  auto file = MemoryFile::import(descriptor);
  if (!file) return std::nullopt;
  const std::lock_guard lock(mutex_);
  auto object = std::make_unique<Object>(Object{.file = std::move(*file), .number = ++last_number_});
  const Imported result{.object = object.get(), .descriptor = object->file.descriptor(), .bytes = object->file.bytes()};
  objects_[object.get()] = std::move(object);
  return result;
}

bool BufferObjects::has(const void* object) {
  const std::lock_guard lock(mutex_);
  return objects_.contains(object);
}

void BufferObjects::unmap_places_of(const MemoryFile& file) {
  for (auto& [address, place] : places_) {
    if (place.file != file.identity() || !place.mapped_by.empty()) continue;
    if (std::exchange(place.is_mapped, false))
      memory_.unmap_file(file, place.size, address);
    else
      memory_.keep_reserved(file, place.size, address);
  }
}

int BufferObjects::free(void* object) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(object);
  if (found == objects_.end()) return -EINVAL;
  const std::unique_ptr<Object> freed = std::move(found->second);
  objects_.erase(found);
  const std::uint64_t file = freed->file.identity();
  if (freed->host_address != nullptr) memory_.free(freed->host_address);
  for (auto& [address, place] : places_) place.mapped_by.erase(object);
  // Not only its own places: ROCr unmaps the host's view before or after a GPU's object is freed, and frees the range's
  // own object last.
  unmap_places_of(freed->file);
  if (std::ranges::none_of(objects_, [&](const auto& other) { return other.second->file.identity() == file; }))
    std::erase_if(places_, [&](const auto& place) { return place.second.file == file; });
  return 0;
}

std::optional<std::uint32_t> BufferObjects::number_of(const void* object) {
  const std::lock_guard lock(mutex_);
  const Object* found = find(object);
  if (found == nullptr) return std::nullopt;
  return found->number;
}

bool BufferObjects::is_file_of(std::uint32_t number, int descriptor) {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(objects_, [&](const auto& object) {
    return object.second->number == number && object.second->file.descriptor() == descriptor;
  });
}

int BufferObjects::attach(const void* object, std::span<const std::byte> data) {
  const std::lock_guard lock(mutex_);
  const Object* found = find(object);
  return found != nullptr && found->file.attach(data) ? 0 : -EINVAL;
}

int BufferObjects::describe(const void* object, Description& description, std::span<std::byte> attached) {
  const std::lock_guard lock(mutex_);
  const Object* found = find(object);
  if (found == nullptr || !found->file.read_attached(attached)) return -EINVAL;
  description = {.bytes = found->file.bytes(), .is_host_memory = found->file.origin().node == 0};
  return 0;
}

int BufferObjects::map_for_host(void* object, void*& address) {
  const std::lock_guard lock(mutex_);
  Object* found = find(object);
  if (found == nullptr) return -EINVAL;
  if (found->host_address == nullptr) {
    Memory::Imported imported;
    if (memory_.import_file(found->file.descriptor(), Memory::Import::mapped, imported) != HSAKMT_STATUS_SUCCESS)
      return -ENOMEM;
    found->host_address = imported.address;
  }
  address = found->host_address;
  return 0;
}

int BufferObjects::map(void* object, std::uint64_t offset, std::uint64_t size, void* address) {
  const std::lock_guard lock(mutex_);
  Object* found = find(object);
  if (found == nullptr) return -EINVAL;
  if (found->host_address == address) return 0;  // host and GPU have the same addresses
  const Place wanted{.file = found->file.identity(), .offset = offset, .size = size};
  const auto known = places_.find(address);
  const bool is_mapped = known != places_.end() && known->second.is_mapped;
  const bool is_in_use = known != places_.end() && (is_mapped || !known->second.mapped_by.empty());
  if (is_in_use && !known->second.is_same(wanted)) return -EINVAL;  // something else is mapped there
  if (is_mapped) {
    if (!found->file.map(address, size, offset)) return -ENOMEM;
  } else {
    const HSAKMT_STATUS status = memory_.map_file(found->file, offset, size, address);
    if (status != HSAKMT_STATUS_SUCCESS) return status == HSAKMT_STATUS_NO_MEMORY ? -ENOMEM : -EINVAL;
  }
  Place& place = is_in_use ? known->second : places_.insert_or_assign(address, wanted).first->second;
  place.is_mapped = true;
  place.mapped_by.insert(object);
  return 0;
}

int BufferObjects::unmap(void* object, void* address) {
  const std::lock_guard lock(mutex_);
  Object* found = find(object);
  if (found == nullptr) return -EINVAL;
  if (found->host_address == address) return 0;
  const auto place = places_.find(address);
  if (place == places_.end() || place->second.mapped_by.erase(object) == 0) return -EINVAL;
  return 0;
}

}  // namespace softgpu::thunk
