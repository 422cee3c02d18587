// How the elements of typed buffers lie in memory and in registers: the data formats and the number
// formats of the ISA manual's "Buffer Resource".
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "softgpu/compute/instruction_set/image_resource.hpp"

namespace softgpu::compute::runtime {

enum class NumberFormat : std::uint8_t {
  unorm,    ///< 0 to 1
  snorm,    ///< -1 to 1; the least integer is -1 as well
  uscaled,  ///< a floating-point number with an integer's value
  sscaled,
  uint,
  sint,
  reserved,
  real,  ///< FLOAT: of 32, 16, 11 or 10 bits, the last two without a sign
  srgb,  ///< UNORM, of which the first three components are nonlinear
};

/// An element in memory, dword after dword.
using ElementWords = std::array<std::uint32_t, 4>;

/// What a component is in a register: of 32 bits, or, in D16 instructions, of 16 in the low half.
enum class ComponentWidth : std::uint8_t { full, half };

/// DST_SEL of a descriptor: constant 0 or 1, or a component from X on.
inline constexpr std::uint32_t select_one = 1;
inline constexpr std::uint32_t select_x = 4;

class ElementFormat {
public:
  /// Nothing for combinations that the manual does not have; these include INVALID, which is 0.
  [[nodiscard]] static std::optional<ElementFormat> make(std::uint32_t data_format, std::uint32_t number_format);

  /// As descriptors of images have it. RDNA numbers data and number formats together, GFX12 as GFX11; on GFX9 the
  /// number format stands behind the six bits of the data format.
  [[nodiscard]] static std::optional<ElementFormat> make_unified(std::uint32_t format, ImageDescriptors numbering);

  [[nodiscard]] bool is_integer() const { return number_ == NumberFormat::uint || number_ == NumberFormat::sint; }
  [[nodiscard]] bool is_unorm() const { return number_ == NumberFormat::unorm; }
  [[nodiscard]] bool is_srgb() const { return number_ == NumberFormat::srgb; }
  [[nodiscard]] bool is_of_dwords() const { return bits_[0] == 32; }
  [[nodiscard]] std::uint32_t bytes() const { return bytes_; }
  /// Component 0 is X. Those that the format does not have read 0, and are not written.
  [[nodiscard]] std::uint32_t get(const ElementWords& words, unsigned component, ComponentWidth width) const;
  void put(ElementWords& words, unsigned component, std::uint32_t value, ComponentWidth width) const;
  /// What a component selected as constant 1 reads.
  [[nodiscard]] std::uint32_t one(ComponentWidth width) const;
  /// The same of formats that are not of integers.
  [[nodiscard]] static std::uint32_t float_one(ComponentWidth width);

private:
  [[nodiscard]] std::uint32_t first_bit(unsigned component) const;
  [[nodiscard]] double number(std::uint32_t bits, unsigned count, unsigned component) const;
  [[nodiscard]] std::uint32_t encode(double value, unsigned count) const;
  [[nodiscard]] std::uint32_t clamp_integer(std::uint32_t value, unsigned count, ComponentWidth width) const;

  NumberFormat number_ = NumberFormat::uint;
  std::uint32_t bytes_ = 0;
  std::array<std::uint8_t, 4> bits_ = {};  ///< of X, Y, Z and W, which follow one another from the lowest bit
};

}  // namespace softgpu::compute::runtime
