// The copy engine's packets: dwords, the operation in the low byte of the first.
//
// Facts: AMD's SDMA 4, 5 and 7 packet layouts as ROCr's sdma_registers.h and Linux's vega10_sdma_pkt_open.h give them.
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
    return (dwords_[index] >> low) & static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1);
  }
  [[nodiscard]] std::uint64_t quad(unsigned index) const noexcept {
    return std::uint64_t{dwords_[index + 1]} << 32 | dwords_[index];
  }
  [[nodiscard]] Operation operation() const noexcept { return static_cast<Operation>(bits(0, 0, 8)); }
  [[nodiscard]] std::uint32_t sub_operation() const noexcept { return bits(0, 8, 8); }

private:
  std::array<std::uint32_t, 13> dwords_{};
};

/// How many bits the numbers of a rectangular copy's packet have.
struct BoxFields {
  unsigned xy, z, pitch, slice_pitch;
};
inline constexpr BoxFields box_fields = {.xy = 14, .z = 11, .pitch = 19, .slice_pitch = 28};
inline constexpr BoxFields gfx12_box_fields = {.xy = 16, .z = 14, .pitch = 16, .slice_pitch = 32};

/// One side of a rectangular copy, in elements.
struct Plane {
  std::uint64_t address;
  std::uint64_t x, y, z;
  std::uint64_t row_pitch;
  std::uint64_t slice_pitch;

  /// `first` is the index of its five dwords: address (2), offsets x and y, offset z and pitch, slice pitch.
  static Plane parse(const Packet& packet, unsigned first, const BoxFields& fields) {
    return {.address = packet.quad(first),
            .x = packet.bits(first + 2, 0, fields.xy),
            .y = packet.bits(first + 2, 16, fields.xy),
            .z = packet.bits(first + 3, 0, fields.z),
            .row_pitch = std::uint64_t{packet.bits(first + 3, 32 - fields.pitch, fields.pitch)} + 1,
            .slice_pitch = std::uint64_t{packet.bits(first + 4, 0, fields.slice_pitch)} + 1};
  }

  [[nodiscard]] std::uint64_t row(std::uint64_t line, std::uint64_t slice, unsigned element_shift) const {
    return address + ((x + (y + line) * row_pitch + (z + slice) * slice_pitch) << element_shift);
  }
};

/// A rectangular copy.
struct Box {
  Box(const Packet& packet, const BoxFields& fields)
      : source(Plane::parse(packet, 1, fields)), target(Plane::parse(packet, 6, fields)),
        element_shift(packet.bits(0, 29, 3)),
        row_bytes((std::uint64_t{packet.bits(11, 0, fields.xy)} + 1) << element_shift),
        rows(packet.bits(11, 16, fields.xy) + 1), slices(packet.bits(12, 0, fields.z) + 1) {}

  [[nodiscard]] std::uint64_t bytes() const { return row_bytes * rows * slices; }

  Plane source, target;
  unsigned element_shift;
  std::uint64_t row_bytes;
  std::uint32_t rows, slices;
};

}  // namespace softgpu::command_processor::sdma
