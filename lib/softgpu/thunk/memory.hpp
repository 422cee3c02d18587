// The GPUs' view of memory: allocations, and registered memory of the program.
//
// Host and device addresses are the same, as ROCr arranges it on hardware. Device memory is host memory, too. What
// kernels may access is kept in compute/run_time/accessible_memory.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include <hsakmt.h>

#include "softgpu/compute/run_time/accessible_memory.hpp"
#include "softgpu/compute/run_time/l2_cache.hpp"
#include "softgpu/thunk/address_window.hpp"

namespace softgpu::thunk {

/// Thread safety: every member may be called from any thread.
class Memory {
public:
  /// How much can be allocated: of each GPU's memory, and of the host's.
  struct Limits {
    std::uint64_t device_bytes;
    std::uint64_t host_bytes;
  };
  /// `release` is called with a range that is about to be unmapped.
  using Release = std::function<void(std::uint64_t base, std::size_t size)>;
  /// `l2s` stand before coarse-grained memory of the GPUs; null: nothing does.
  Memory(std::uint32_t node_count, const Limits& limits, compute::L2Caches* l2s, Release release);

  /// `address` holds the wanted address on entry where `flags` fixes it, and the block's address afterwards.
  /// The block starts at a multiple of a page and of `alignment`, a power of 2.
  HSAKMT_STATUS allocate(std::uint32_t node, std::uint64_t size, HsaMemFlags flags, void*& address,
                         std::uint64_t alignment = 0);
  HSAKMT_STATUS free(void* address);

  /// How much of a node's memory can still be allocated, in bytes.
  [[nodiscard]] std::uint64_t available(std::uint32_t node);

  HSAKMT_STATUS register_host(void* address, std::uint64_t size, HsaMemFlags flags);
  HSAKMT_STATUS deregister(void* address);

  /// Maps the block of `address` to `nodes` and to no others; an empty list unmaps it.
  HSAKMT_STATUS map(void* address, std::vector<HSAuint32> nodes);

  HSAKMT_STATUS query(const void* address, HsaPointerInfo& info);
  HSAKMT_STATUS set_user_data(const void* address, void* user_data);

  /// Lets kernels access memory of the driver's own.
  void share(std::span<const std::uint64_t> memory) {
    accessible_.add(reinterpret_cast<std::uint64_t>(memory.data()), memory.size_bytes());
  }

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
  };
  using Blocks = std::map<std::uint64_t, Block>;

  [[nodiscard]] Block* find(const void* address);
  [[nodiscard]] void* map_memory(void* fixed, std::uint64_t size, std::uint64_t alignment);
  void unmap_memory(void* address, std::uint64_t size) noexcept;
  [[nodiscard]] bool reserve(std::uint32_t node, std::uint64_t size, HsaMemFlags flags);
  void give_back(std::uint32_t node, std::uint64_t size, HsaMemFlags flags) noexcept;

  AddressWindow window_;
  compute::AccessibleMemory accessible_{window_.addresses()};
  std::mutex mutex_;
  Blocks allocations_;                    // never overlap
  Blocks registrations_;                  // may overlap one another
  std::vector<std::uint64_t> available_;  ///< by node
  compute::L2Caches* l2s_;
  Release release_;
};

}  // namespace softgpu::thunk
