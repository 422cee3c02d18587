// libdrm's buffer objects, by which ROCr 6 and later map virtual memory (hsa_amd_vmem_*): files of memory that were
// imported for a GPU, and the addresses at which GPUs map them.
//
// Memory has the same address for the GPUs and for the host. A range that any GPU maps is readable and writable, for
// the host, too; it stays so until the last of these GPUs' buffer objects is freed, as ROCr does when it unmaps the
// range from all agents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>

#include "softgpu/thunk/memory.hpp"

namespace softgpu::thunk {

/// All buffer objects of the process. What fails returns a negative errno, as libdrm does.
///
/// Thread safety: every member may be called from any thread.
class BufferObjects {
public:
  /// `memory` outlives it.
  explicit BufferObjects(Memory& memory) : memory_(memory) {}

  struct Imported {
    void* object = nullptr;  ///< the amdgpu_bo_handle
    int descriptor = -1;     ///< of its file, as long as it lives: what amdgpu_device_get_fd returns next
    std::uint64_t bytes = 0;
  };
  /// Nothing for a descriptor that is not a memory file's. The descriptor stays the caller's.
  [[nodiscard]] std::optional<Imported> import(int descriptor);
  [[nodiscard]] bool has(const void* object);
  [[nodiscard]] int free(void* object);

  /// The object's number, from 1 on, as the kernel gives it to its files' users.
  [[nodiscard]] std::optional<std::uint32_t> number_of(const void* object);
  /// Whether `descriptor` is that of the object with this number. The object's pages begin at its offset 0.
  [[nodiscard]] bool is_file_of(std::uint32_t number, int descriptor);

  /// What a program has attached to the object's memory, by whatever object; and what the memory is.
  [[nodiscard]] int attach(const void* object, std::span<const std::byte> data);
  struct Description {
    std::uint64_t bytes = 0;
    bool is_host_memory = false;
  };
  [[nodiscard]] int describe(const void* object, Description& description, std::span<std::byte> attached);

  /// Maps all of it for the host, until it is freed.
  [[nodiscard]] int map_for_host(void* object, void*& address);
  [[nodiscard]] int map(void* object, std::uint64_t offset, std::uint64_t size, void* address);
  [[nodiscard]] int unmap(void* object, void* address);

private:
  struct Object {
    MemoryFile file;
    std::uint32_t number = 0;
    void* host_address = nullptr;
  };
  /// A range that GPUs map, or did.
  struct Place {
    std::uint64_t file = 0;  ///< its identity
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    bool is_mapped = false;             ///< stays so when the last GPU unmaps it: the host may use it
    std::set<const void*> mapped_by{};  ///< objects

    [[nodiscard]] bool is_same(const Place& other) const noexcept {
      return file == other.file && offset == other.offset && size == other.size;
    }
  };

  [[nodiscard]] Object* find(const void* object);
  void unmap_places_of(const MemoryFile& file);

  Memory& memory_;
  std::mutex mutex_;
  std::map<const void*, std::unique_ptr<Object>> objects_;
  std::map<void*, Place> places_;
  std::uint32_t last_number_ = 0;
};

}  // namespace softgpu::thunk
