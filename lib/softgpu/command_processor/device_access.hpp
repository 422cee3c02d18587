// Addresses as the device sees them, and the accesses that the copy engine makes.
//
// The accesses are the device's, not the program's: no sanitizer sees them, as none sees what a DMA engine does.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softgpu::command_processor {

/// What lies at an address that a packet, a signal or a driver call names.
template <class T>
[[nodiscard]] T* at_address(std::uint64_t address) noexcept {
  return reinterpret_cast<T*>(address);  // NOLINT(performance-no-int-to-ptr)
}

inline void copy_device(std::uint64_t target, std::uint64_t source, std::size_t bytes) noexcept {
  asm volatile("rep movsb" : "+D"(target), "+S"(source), "+c"(bytes) : : "memory");
}

inline void fill_device(std::uint64_t target, std::uint32_t value, std::size_t dwords) noexcept {
  asm volatile("rep stosl" : "+D"(target), "+c"(dwords) : "a"(value) : "memory");
}

}  // namespace softgpu::command_processor
