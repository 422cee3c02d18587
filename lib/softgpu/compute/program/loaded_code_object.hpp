// Code objects in memory, as the HSA loader has left them there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace softgpu::compute {

/// Copies memory of this process. Returns whether all of it could be read: anything may be there, or nothing.
[[nodiscard]] bool copy_memory(std::uint64_t address, void* destination, std::size_t size);

template <class T>
[[nodiscard]] std::optional<T> copy_memory(std::uint64_t address) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  return copy_memory(address, &value, sizeof value) ? std::optional(value) : std::nullopt;
}

/// The text there, up to its end, to `longest` characters, or to memory that cannot be read.
[[nodiscard]] std::string copy_text(std::uint64_t address, std::size_t longest);

/// Where the code object that `address` is in begins; empty if none begins on the pages before it.
///
/// The loader copies a code object's first segment as it is, with the ELF header.
[[nodiscard]] std::optional<std::uint64_t> find_code_object(std::uint64_t address);

}  // namespace softgpu::compute
