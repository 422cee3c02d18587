// Loads and stores of variables in assembly, in gfx90a's spelling.
#pragma once

#include <cstdint>
#include <string>

#include "memory_model.hpp"

namespace softgpu::litmus {

/// What one instruction moves for a lane. An element of 16 bytes is two variables of 8: only they are single-copy
/// atomic.
struct Element {
  std::uint32_t bytes;

  [[nodiscard]] std::uint32_t dwords() const { return bytes < 4 ? 1 : bytes / 4; }
  [[nodiscard]] std::uint32_t variables() const { return bytes == 16 ? 2 : 1; }
  [[nodiscard]] std::uint32_t variable_bytes() const { return bytes / variables(); }
  /// The size of an element among the results: bytes and shorts are extended.
  [[nodiscard]] std::uint32_t result_bytes() const { return 4 * dwords(); }
};

/// Where an instruction finds a variable.
struct AddressRegisters {
  unsigned vector;         ///< the first of a pair that holds the address, or the offset
  unsigned scalar;         ///< a pair: the slot's address
  unsigned descriptor;     ///< of the variable's buffer: four
  unsigned scalar_offset;  ///< of the slot, within that buffer
};

/// v5, v[4:5], s[8:11].
[[nodiscard]] std::string registers(char kind, unsigned first, unsigned count);

[[nodiscard]] std::string load_text(Memory memory, Element element, unsigned destination,
                                    const AddressRegisters& address, const std::string& hints);
[[nodiscard]] std::string store_text(Memory memory, Element element, unsigned source, const AddressRegisters& address,
                                     const std::string& hints);

}  // namespace softgpu::litmus
