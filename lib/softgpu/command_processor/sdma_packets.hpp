// The copy engine's packets: dwords, the operation in the low byte of the first.
//
// Facts: AMD's SDMA 4 and 5 packet layouts as ROCr's sdma_registers.h and Linux's vega10_sdma_pkt_open.h give them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace softgpu::command_processor::sdma {

enum class Operation : std::uint8_t {
  nop = 0,
  copy = 1,
  fence = 5,
  trap = 6,
  poll_memory = 8,
  atomic = 10,
  constant_fill = 11,
  timestamp = 13,
  cache_request = 17,
};

inline constexpr std::uint32_t copy_linear = 0;
inline constexpr std::uint32_t copy_linear_rectangle = 4;
inline constexpr std::uint32_t timestamp_get_global = 2;
inline constexpr std::uint32_t atomic_add_64 = 47;

/// One packet's dwords, copied out of the ring; of the longest packet's length.
class Packet {
public:
  [[nodiscard]] std::uint32_t dword(unsigned index) const noexcept { return dwords_[index]; }
  [[nodiscard]] std::uint32_t bits(unsigned index, unsigned low, unsigned count) const noexcept {
    return (dwords_[index] >> low) & ((std::uint32_t{1} << count) - 1);
  }
  [[nodiscard]] std::uint64_t quad(unsigned index) const noexcept {
    return std::uint64_t{dwords_[index + 1]} << 32 | dwords_[index];
  }
  [[nodiscard]] Operation operation() const noexcept { return static_cast<Operation>(bits(0, 0, 8)); }
  [[nodiscard]] std::uint32_t sub_operation() const noexcept { return bits(0, 8, 8); }

private:
  std::array<std::uint32_t, 13> dwords_{};
};

/// One side of a rectangular copy, in elements.
struct Plane {
  std::uint64_t address;
  std::uint64_t x, y, z;
  std::uint64_t row_pitch;
  std::uint64_t slice_pitch;

  /// `first` is the index of its five dwords: address (2), offsets x and y, offset z and pitch, slice pitch.
  static Plane parse(const Packet& packet, unsigned first) {
    return {.address = packet.quad(first),
            .x = packet.bits(first + 2, 0, 14),
            .y = packet.bits(first + 2, 16, 14),
            .z = packet.bits(first + 3, 0, 11),
            .row_pitch = std::uint64_t{packet.bits(first + 3, 13, 19)} + 1,
            .slice_pitch = std::uint64_t{packet.bits(first + 4, 0, 28)} + 1};
  }

  [[nodiscard]] std::uint64_t row(std::uint64_t line, std::uint64_t slice, unsigned element_shift) const {
    return address + ((x + (y + line) * row_pitch + (z + slice) * slice_pitch) << element_shift);
  }
};

}  // namespace softgpu::command_processor::sdma
