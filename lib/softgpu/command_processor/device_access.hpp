// Addresses as the device sees them, and accesses that may fault.
//
// The accesses are the device's, not the program's. No sanitizer sees them, as no sanitizer sees a DMA engine. A
// sanitizer must not see them either: a fault jumps out of an access and would leave a lock of the thread sanitizer
// behind.
//
// Memory ordering: on x86 every load acquires, every store releases, and a locked instruction does both.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::command_processor {

/// The object at an address that a packet, a signal or a driver call names.
template <class T>
[[nodiscard]] T* at_address(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

[[nodiscard]] inline bool is_within(const void* address, std::uint64_t base, std::size_t size) noexcept {
  return reinterpret_cast<std::uint64_t>(address) - base < size;
}

inline void copy_device(std::uint64_t target, std::uint64_t source, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

inline void fill_device(std::uint64_t target, std::uint32_t value, std::size_t dwords) noexcept {
  asm volatile("rep stosl" : "+D"(target), "+c"(dwords) : "a"(value) : "memory");
}

[[nodiscard]] inline std::uint32_t load_device(std::uint64_t address) noexcept {
  std::uint32_t value = 0;
  asm volatile("movl (%1), %0" : "=r"(value) : "r"(address) : "memory");
  return value;
}

[[nodiscard]] inline std::uint64_t load_wide_device(std::uint64_t address) noexcept {
  std::uint64_t value = 0;
  asm volatile("movq (%1), %0" : "=r"(value) : "r"(address) : "memory");
  return value;
}

inline void store_device(std::uint64_t address, std::uint32_t value) noexcept {
  asm volatile("movl %1, (%0)" : : "r"(address), "r"(value) : "memory");
}

inline void store_device(std::uint64_t address, std::uint64_t value) noexcept {
  asm volatile("movq %1, (%0)" : : "r"(address), "r"(value) : "memory");
}

inline void add_device(std::uint64_t address, std::uint64_t value) noexcept {
  asm volatile("lock addq %1, (%0)" : : "r"(address), "r"(value) : "memory", "cc");
}

}  // namespace softgpu::command_processor
