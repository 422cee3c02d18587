// The state of one wavefront before and after a snippet: registers, masks, LDS and a window of memory.
//
// The test kernel loads a MachineState, executes the instructions under test and stores the registers back in place;
// the reference changes a copy of it. Its layout is known to the kernel's prologue and epilogue (kernel_text.cpp).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace softgpu::isa {

inline constexpr unsigned lane_count = 64;
inline constexpr unsigned scalar_count = 24;
inline constexpr unsigned vector_count = 16;
inline constexpr unsigned lds_bytes = 2560;  // whole granules of each architecture
inline constexpr unsigned memory_bytes = 4096;

struct MachineState {
  std::uint32_t case_number;  ///< which of the kernel's cases to execute
  std::uint32_t scc;
  std::uint64_t exec;
  std::uint64_t vcc;
  std::uint32_t m0;
  std::uint32_t reserved;
  std::array<std::uint32_t, scalar_count> scalar;
  std::array<std::array<std::uint32_t, lane_count>, vector_count> vector;
  std::array<std::uint8_t, lds_bytes> lds;
  std::array<std::uint8_t, memory_bytes> memory;
  std::uint64_t memory_address;  ///< where the kernel sees `memory`; the same in a copy

  [[nodiscard]] bool active(unsigned lane) const { return (exec >> lane & 1) != 0; }

  /// A value of 1 to 8 bytes in registers `first` and on.
  [[nodiscard]] std::uint64_t vector_value(unsigned first, unsigned lane, unsigned bytes) const {
    const std::uint64_t low = vector.at(first).at(lane);
    return bytes <= 4 ? low : low | std::uint64_t{vector.at(first + 1).at(lane)} << 32;
  }
  void set_vector_value(unsigned first, unsigned lane, unsigned bytes, std::uint64_t value) {
    vector.at(first).at(lane) = static_cast<std::uint32_t>(value);
    if (bytes > 4) vector.at(first + 1).at(lane) = static_cast<std::uint32_t>(value >> 32);
  }
  [[nodiscard]] std::uint64_t scalar_value(unsigned first, unsigned bytes) const {
    const std::uint64_t low = scalar.at(first);
    return bytes <= 4 ? low : low | std::uint64_t{scalar.at(first + 1)} << 32;
  }
  void set_scalar_value(unsigned first, unsigned bytes, std::uint64_t value) {
    scalar.at(first) = static_cast<std::uint32_t>(value);
    if (bytes > 4) scalar.at(first + 1) = static_cast<std::uint32_t>(value >> 32);
  }

  /// The bytes of `memory` that the kernel knows by `address`. A reference that leaves the window is a mistake of the
  /// test.
  [[nodiscard]] std::uint8_t* at(std::uint64_t address, std::size_t size) {
    const std::uint64_t offset = address - memory_address;
    if (offset > memory_bytes || size > memory_bytes - offset) throw std::out_of_range("address outside the window");
    return memory.data() + offset;
  }
  [[nodiscard]] std::uint8_t* lds_at(std::uint64_t address, std::size_t size) {
    if (address > lds_bytes || size > lds_bytes - address) throw std::out_of_range("address outside the LDS window");
    return lds.data() + address;
  }
};

static_assert(offsetof(MachineState, exec) == 8 && offsetof(MachineState, vcc) == 16 &&
              offsetof(MachineState, m0) == 24);
static_assert(offsetof(MachineState, scalar) == 32 && offsetof(MachineState, vector) == 128);
static_assert(offsetof(MachineState, lds) == 128 + 256 * vector_count);

template <class T>
[[nodiscard]] T read_as(const std::uint8_t* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write_as(std::uint8_t* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace softgpu::isa
