// The memory that kernels may access: what the GPU was given.
//
// Kernels run in the program's address space, where all of the program's memory is mapped. On hardware a GPU without
// XNACK has page tables of its own: memory that was neither allocated through the driver nor registered with it is not
// there, and an access to it is a memory fault.
#pragma once

#include <cstdint>
#include <map>
#include <shared_mutex>

namespace softgpu::compute {

/// Most of the GPU's memory lies in one window, which translated code checks by itself: what is mapped there is the
/// GPU's. All else, such as registered memory of the program, is a list of ranges.
///
/// Thread safety: every member may be called from any thread.
class AccessibleMemory {
public:
  /// The addresses that have the bits of `base` under `mask`. Without a mask: all addresses.
  struct Window {
    std::uint64_t base = 0;
    std::uint64_t mask = 0;

    [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return ((address ^ base) & mask) == 0; }
  };
  /// A 32-bit offset in units of up to 16 bytes may lead out of the window from any address in it, as far as this.
  /// Nothing is mapped there.
  static constexpr std::uint64_t guard_bytes = (std::uint64_t{64} << 30) + (std::uint64_t{1} << 24);

  explicit AccessibleMemory(Window window) : window_(window) {}

  [[nodiscard]] const Window& window() const noexcept { return window_; }

  /// Whole pages, as the GPU's page tables have it. Ranges may overlap.
  void add(std::uint64_t base, std::uint64_t bytes);
  /// Takes one range back that was added with these very arguments.
  void remove(std::uint64_t base, std::uint64_t bytes) noexcept;

  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] bool contains(std::uint64_t address) const noexcept { return address >= begin && address < end; }
  };
  /// A range with this address; an empty one if there is none, not even the window.
  [[nodiscard]] Range range_of(std::uint64_t address) const noexcept;

private:
  const Window window_;
  mutable std::shared_mutex mutex_;
  std::multimap<std::uint64_t, std::uint64_t> ranges_;  ///< end by begin
};

}  // namespace softgpu::compute
