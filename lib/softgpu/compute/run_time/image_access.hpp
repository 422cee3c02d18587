// Image instructions, lane by lane.
//
// Called by translated code, as memory_runtime.hpp describes: WaveState has the descriptors and the lanes' addresses.
// lane_data holds a component a row, as the instruction's mask selects them, each of 32 bits or, in D16 instructions,
// of 16 in the low half.
#pragma once

#include <bit>
#include <cstdint>

#include "softgpu/compute/instruction_set/image_resource.hpp"
#include "softgpu/compute/run_time/element_format.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// The instruction's fields, in one number for translated code.
struct ImageAccess {
  /// How an instruction tells which level of the image it means.
  enum class Level : std::uint8_t {
    zero,       ///< always the view's first
    given,      ///< the last address tells
    gradients,  ///< addresses tell by how much coordinates change
    quad,       ///< how much they change from lane to lane, in groups of four
  };
  /// Addresses besides coordinates, and more.
  enum Flag : std::uint16_t {
    offset = 1,           ///< in texels, three numbers of six bits in one dword
    bias = 2,             ///< added to the level
    reference = 4,        ///< for the comparison of depths
    least_level = 8,      ///< the last address: levels before are not accessed
    unnormalized = 16,    ///< coordinates are texels
    half_addresses = 32,  ///< coordinates, levels and bias are of 16 bits, in a dword each
    half_gradients = 64,
    gathers = 128,  ///< one component of four texels
    array = 256,    ///< of GFX9, where only the descriptor tells the dimensions: a slice is among the addresses
  };

  ImageDimension dimension;  ///< on GFX9 what takes the most addresses, until the descriptor is there (within)
  std::uint8_t mask;         ///< of components; where it gathers, which one
  ComponentWidth width;
  Level level;
  std::uint16_t flags;
  ImageDescriptors descriptors;
  std::uint8_t reserved = 0;

  [[nodiscard]] std::uint64_t packed() const { return std::bit_cast<std::uint64_t>(*this); }
  [[nodiscard]] static ImageAccess unpacked(std::uint64_t bits) { return std::bit_cast<ImageAccess>(bits); }

  /// With the dimensions of GFX9's descriptor.
  [[nodiscard]] ImageAccess within(ImageDimension described) const {
    if (descriptors != ImageDescriptors::gfx9) return *this;
    ImageAccess access = *this;
    access.dimension = described;
    if (described == ImageDimension::one_array && !has(array)) access.dimension = ImageDimension::one;
    if (described == ImageDimension::two_array && !has(array)) access.dimension = ImageDimension::two;
    return access;
  }

  [[nodiscard]] bool has(Flag flag) const { return (flags & flag) != 0; }
  /// Coordinates, with the slice of an array.
  [[nodiscard]] unsigned coordinates() const {
    if (dimension == ImageDimension::one) return 1;
    return dimension == ImageDimension::two || dimension == ImageDimension::one_array ? 2 : 3;
  }
  /// Coordinates that change from texel to texel.
  [[nodiscard]] unsigned axes() const {
    if (dimension == ImageDimension::one || dimension == ImageDimension::one_array) return 1;
    return dimension == ImageDimension::three ? 3 : 2;
  }
  [[nodiscard]] unsigned gradient_count() const { return level == Level::gradients ? 2 * axes() : 0; }
  /// In the order in which WaveState::image_address has them: offset, bias, reference, gradients, coordinates, level.
  [[nodiscard]] unsigned first_gradient() const {
    return static_cast<unsigned>(std::popcount(std::uint32_t{flags} & (offset | bias | reference)));
  }
  [[nodiscard]] unsigned first_coordinate() const { return first_gradient() + gradient_count(); }
  [[nodiscard]] bool has_last() const { return level == Level::given || has(least_level); }
  [[nodiscard]] unsigned last() const { return first_coordinate() + coordinates(); }
  [[nodiscard]] unsigned addresses() const { return last() + (has_last() ? 1U : 0U); }
};
static_assert(sizeof(ImageAccess) == sizeof(std::uint64_t));

/// Lanes out of range read 0, but for components selected as constant 1, and write nothing.
void image_load(WaveState* state, std::uint64_t lanes, std::uint64_t access);
void image_store(WaveState* state, std::uint64_t lanes, std::uint64_t access);

/// Puts host addresses of texels of so many bytes into lane_addresses, and zeroes the first two rows of data of lanes
/// out of range. Returns the lanes in range.
std::uint64_t image_addresses(WaveState* state, std::uint64_t lanes, std::uint64_t access, std::uint32_t bytes);

/// The size of a level, and how many levels there are.
void image_size(WaveState* state, std::uint64_t lanes, std::uint64_t access);

/// Of sample and gather instructions (image_sampling.cpp).
void image_sample(WaveState* state, std::uint64_t lanes, std::uint64_t access);

}  // namespace softgpu::compute::runtime
