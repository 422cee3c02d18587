// The addresses that the GPUs' memory gets: one aligned range of the process's address space.
#pragma once

#include <cstdint>
#include <map>

#include "softgpu/compute/run_time/accessible_memory.hpp"

namespace softgpu::thunk {

/// The next multiple of `unit`.
[[nodiscard]] constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) noexcept {
  return (value + unit - 1) / unit * unit;
}

/// What a part of the window is handed out as: zeroed pages, or addresses alone, where an access is a fault.
enum class Pages { zeroed, none };

/// Owns a reserved range and hands out parts of it as memory. What is not handed out is not accessible.
///
/// Thread safety: none.
class AddressWindow {
public:
  /// Reserves addresses. Reserves none where the process's address space is limited (RLIMIT_AS): they would count.
  AddressWindow();
  /// Memory that was not given back stays.
  ~AddressWindow();
  AddressWindow(const AddressWindow&) = delete;
  AddressWindow& operator=(const AddressWindow&) = delete;

  /// Its addresses. Without a reservation no address is in the window.
  [[nodiscard]] compute::AccessibleMemory::Window addresses() const noexcept;
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept;

  /// A part at a multiple of `alignment`, a power of 2; null if there is no room.
  [[nodiscard]] void* allocate(std::uint64_t size, std::uint64_t alignment, Pages pages = Pages::zeroed);
  /// The same at this very address; null if any of it is taken or out of the window.
  [[nodiscard]] void* allocate_at(void* address, std::uint64_t size, Pages pages = Pages::zeroed);
  /// Gives back what allocate returned. Allocates nothing.
  void free(void* address) noexcept;
  /// Gives back any pages of what one call of allocate returned. False if they are not, or the system refuses.
  [[nodiscard]] bool free_part(void* address, std::uint64_t size);
  /// Whether all of it was handed out by one call of allocate.
  [[nodiscard]] bool is_taken(std::uint64_t address, std::uint64_t size) const noexcept;

private:
  [[nodiscard]] std::uint64_t end() const noexcept { return base_ + bytes_; }
  using Taken = std::map<std::uint64_t, std::uint64_t>;  ///< sizes by address

  [[nodiscard]] void* take(std::uint64_t address, std::uint64_t size, Pages pages);
  /// The entry that has all of the range; the map's end if there is none.
  [[nodiscard]] Taken::const_iterator find_taken(std::uint64_t address, std::uint64_t size) const noexcept;
  /// The first gap of `size` bytes between two addresses; 0 if there is none.
  [[nodiscard]] std::uint64_t find_gap(std::uint64_t from, std::uint64_t to, std::uint64_t size,
                                       std::uint64_t alignment) const;

  std::uint64_t reserved_ = 0;  ///< with the alignment's rest, and guards on both sides
  std::uint64_t reserved_bytes_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t bytes_ = 0;  ///< a power of 2; 0: nothing is reserved
  std::uint64_t next_ = 0;   ///< where the search for room begins: addresses are not used again soon
  Taken taken_;
};

}  // namespace softgpu::thunk
