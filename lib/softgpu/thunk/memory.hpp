// The GPUs' view of memory: allocations, and registered memory of the program.
//
// Host and device addresses are the same, as ROCr arranges it on hardware. Device memory is host memory, too. What
// kernels may access is kept in compute/run_time/accessible_memory.hpp.
//
// Virtual memory (hsa_amd_vmem_*) has its two halves apart: addresses without memory, and memory without an address, a
// file, which buffer objects (buffer_objects.hpp) map there. Memory with an address becomes a file when it is exported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <hsakmt.h>

#include "softgpu/compute/run_time/accessible_memory.hpp"
#include "softgpu/compute/run_time/l2_cache.hpp"
#include "softgpu/thunk/address_window.hpp"
#include "softgpu/thunk/memory_file.hpp"
#include "softgpu/thunk/shared_handle.hpp"

namespace softgpu::thunk {

/// Thread safety: every member may be called from any thread.
class Memory {
public:
  /// How much can be allocated: of each GPU's memory, and of the host's.
  struct Limits {
    std::uint64_t device_bytes;
    std::uint64_t host_bytes;
  };
  /// What is asked and told of a range before its memory goes away.
  struct Users {
    /// Whether a queue still needs it.
    std::function<bool(std::uint64_t base, std::size_t size)> need = [](auto, auto) { return false; };
    /// It is about to be unmapped.
    std::function<void(std::uint64_t base, std::size_t size)> release = [](auto, auto) {};
  };
  /// `l2s` stand before coarse-grained memory of the GPUs; null: nothing does.
  Memory(std::uint32_t node_count, const Limits& limits, compute::L2Caches* l2s, Users users);

  /// `address` holds the wanted address on entry where `flags` fixes it, and the block's address afterwards.
  /// The block starts at a multiple of a page and of `alignment`, a power of 2. That of memory without an address is
  /// its handle: it cannot be accessed.
  HSAKMT_STATUS allocate(std::uint32_t node, std::uint64_t size, HsaMemFlags flags, void*& address,
                         std::uint64_t alignment = 0);
  /// HSAKMT_STATUS_UNAVAILABLE if a queue's ring or indices are there: the block stays, as Linux (6.12 and later) has
  /// it.
  HSAKMT_STATUS free(void* address);

  /// Whether an address is of the range that the GPUs' memory comes from, as far as it can.
  [[nodiscard]] bool is_in_window(const void* address) const noexcept {
    return window_.contains(reinterpret_cast<std::uint64_t>(address));
  }
  /// Addresses of the window alone, for a caller who hands them out himself: these ones, or any; null where there is no
  /// window, or no room in it.
  [[nodiscard]] void* reserve_addresses(std::uint64_t size, void* wanted = nullptr);
  /// Gives back any pages of them, whatever they have become. False if they are none.
  [[nodiscard]] bool release_addresses(void* address, std::uint64_t size);

  /// Whose the pages are that become a block.
  enum class Backing {
    zeroed,  ///< new ones
    given,   ///< the caller's, who has mapped them
  };
  /// Makes a block at addresses that are the caller's, before and after.
  HSAKMT_STATUS place(void* address, std::uint32_t node, std::uint64_t size, HsaMemFlags flags, Backing backing);

  /// How much of a node's memory can still be allocated, in bytes.
  [[nodiscard]] std::uint64_t available(std::uint32_t node);

  HSAKMT_STATUS register_host(void* address, std::uint64_t size, HsaMemFlags flags);
  HSAKMT_STATUS deregister(void* address);

  /// Maps the block of `address` to `nodes` and to no others; an empty list unmaps it.
  HSAKMT_STATUS map(void* address, std::vector<HSAuint32> nodes);

  /// A descriptor of the file that has the memory at `address`, which is the caller's, and where in the file it is.
  /// Others may use the memory meanwhile; only a system call that writes it fails then, if it was no file before.
  HSAKMT_STATUS export_file(const void* address, std::uint64_t size, int& descriptor, std::uint64_t& offset);
  /// The same as a handle for another process, which is good as long as the block is there. `address` is the block's.
  HSAKMT_STATUS share(const void* address, SharedHandle& handle);
  enum class Import {
    mapped,
    handle,
    shared,  ///< mapped, and told as memory of another process
  };
  struct Imported {
    void* address = nullptr;
    std::uint64_t bytes = 0;
    std::uint32_t node = 0;  ///< of a GPU
  };
  /// Makes a block of a file: accessible memory, or a handle, which is the one that this process has already if it has
  /// one. The descriptor stays the caller's. Ended by free() or deregister().
  HSAKMT_STATUS import_file(int descriptor, Import as, Imported& imported);
  /// The same at addresses that are the caller's, before and after.
  HSAKMT_STATUS import_file_at(int descriptor, void* address);
  /// Maps a part of a file where addresses were allocated without memory.
  HSAKMT_STATUS map_file(const MemoryFile& file, std::uint64_t offset, std::uint64_t size, void* address);
  /// Makes these addresses inaccessible again.
  void unmap_file(const MemoryFile& file, std::uint64_t size, void* address);
  /// Keeps addresses from others, of which ROCr has unmapped the host's view since unmap_file().
  void keep_reserved(const MemoryFile& file, std::uint64_t size, void* address);

  HSAKMT_STATUS query(const void* address, HsaPointerInfo& info);
  HSAKMT_STATUS set_user_data(const void* address, void* user_data);

  /// Lets kernels access memory of the driver's own.
  void share(std::span<const std::uint64_t> memory) {
    accessible_.add(reinterpret_cast<std::uint64_t>(memory.data()), memory.size_bytes());
  }

  /// Lets kernels access memory of the program's, in whole pages, and no longer. A range may be made inaccessible that
  /// was made accessible as it is, no part of one.
  void make_accessible(std::uint64_t base, std::uint64_t size);
  void make_inaccessible(std::uint64_t base, std::uint64_t size) noexcept { accessible_.remove(base, size); }

  /// What kernels may access: everything that is allocated, registered or shared.
  [[nodiscard]] const compute::AccessibleMemory& accessible() const noexcept { return accessible_; }

private:
  struct Block {
    std::uint64_t base = 0;
    std::uint64_t size = 0;
    std::uint32_t node = 0;
    HsaMemFlags flags{};
    HSA_POINTER_TYPE type = HSA_POINTER_UNKNOWN;
    void* user_data = nullptr;
    std::vector<HSAuint32> mapped_nodes;
    unsigned registrations = 0;
    std::optional<MemoryFile> file;
    std::optional<Backing> placed{};  ///< at addresses of the caller's
  };
  using Blocks = std::map<std::uint64_t, Block>;

  [[nodiscard]] Block* find(const void* address);
  [[nodiscard]] Block* find_allocation(const void* address);
  /// Whether addresses alone were handed out there.
  [[nodiscard]] bool has_no_memory(std::uint64_t base, std::uint64_t size);
  [[nodiscard]] const Block* find_handle(const MemoryFile& file) const;
  /// The file that has the block's memory, which moves there if it must; null if there is none or the system refuses.
  [[nodiscard]] const MemoryFile* file_of(Block& block);
  [[nodiscard]] bool move_to_file(Block& block);
  [[nodiscard]] void* map_memory(void* fixed, std::uint64_t size, std::uint64_t alignment, Pages pages);
  void unmap_memory(void* address, std::uint64_t size, Pages pages) noexcept;
  void unmap_placed(std::uint64_t base, std::uint64_t size, Backing backing) noexcept;
  [[nodiscard]] bool reserve(std::uint32_t node, std::uint64_t size, HsaMemFlags flags);
  void give_back(std::uint32_t node, std::uint64_t size, HsaMemFlags flags) noexcept;
  /// Of memory that was allocated.
  void tell_l2s(std::uint64_t base, std::uint64_t size, std::uint32_t node, HsaMemFlags flags);

  AddressWindow window_;
  compute::AccessibleMemory accessible_{window_.addresses()};
  std::mutex mutex_;
  Blocks allocations_;                    // never overlap
  Blocks registrations_;                  // may overlap one another
  std::vector<std::uint64_t> available_;  ///< by node
  compute::L2Caches* l2s_;
  Users users_;
};

}  // namespace softgpu::thunk
