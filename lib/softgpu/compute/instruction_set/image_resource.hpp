// The descriptors of image instructions: of an image, in eight scalar registers, and of a sampler, in four (the RDNA2
// and RDNA3 ISA manuals, "Image Resource" and "Sampler Resource"; ROCr's resource_ai.h, resource_nv.h, resource_gfx11.h
// and resource_gfx12.h).
#pragma once

#include <array>
#include <cstdint>

namespace softgpu::compute::runtime {

/// How an architecture lays out an image's descriptor, and numbers the formats of elements.
enum class ImageDescriptors : std::uint8_t { gfx9, gfx10, gfx11, gfx12 };

/// The dimensions of an instruction (its field DIM) and of a descriptor (its TYPE, from 8 on).
enum class ImageDimension : std::uint8_t {
  one,
  two,
  three,
  cube,
  one_array,
  two_array,
  two_samples,
  two_samples_array,
};

/// A number of `count` bits of a descriptor, from its bit `first` on.
template <std::size_t dwords>
[[nodiscard]] std::uint64_t descriptor_field(const std::uint32_t (&words)[dwords], unsigned first, unsigned count) {
  std::uint64_t value = words[first / 32];
  if (first / 32 + 1 < dwords) value |= std::uint64_t{words[first / 32 + 1]} << 32;
  return value >> first % 32 & ((std::uint64_t{1} << count) - 1);
}

struct ImageResource {
  ImageResource(const std::uint32_t (&words)[8], ImageDescriptors layout) {
    const auto field = [&](unsigned first, unsigned count) {
      return static_cast<std::uint32_t>(descriptor_field(words, first, count));
    };
    base = (words[0] | std::uint64_t{field(32, 8)} << 32) << 8;
    for (unsigned c = 0; c < 4; ++c) selected.at(c) = static_cast<std::uint8_t>(field(96 + 3 * c, 3));
    swizzle_mode = field(116, 5);
    type = field(124, 4);
    if (layout == ImageDescriptors::gfx12) {
      greatest_level = field(44, 5);
      format = field(49, 8);
      base_level = field(57, 5);
      width = field(62, 16) + 1;
      height = field(78, 16) + 1;
      last_level = field(111, 5);
      depth = field(128, 14);
      pitch = field(128, 16);
      first_slice = field(144, 14);
      array_pitch = 0;
      least_level = field(186, 13);
      return;
    }
    if (layout == ImageDescriptors::gfx9) {
      least_level = field(40, 12);
      format = field(52, 10);  // that of the data, and behind it that of the numbers
      width = field(64, 14) + 1;
      height = field(78, 14) + 1;
      base_level = field(108, 4);
      last_level = field(112, 4);
      depth = field(128, 13);
      pitch = field(141, 16);
      first_slice = field(160, 13);
      array_pitch = field(173, 4);
      greatest_level = field(188, 4);
      return;
    }
    const bool is_gfx10 = layout == ImageDescriptors::gfx10;
    least_level = field(is_gfx10 ? 40 : 187, 12);
    format = field(52, is_gfx10 ? 9 : 8);
    width = field(62, 14) + 1;
    height = field(78, 14) + 1;
    base_level = field(108, 4);
    last_level = field(112, 4);
    depth = field(128, 13);
    pitch = field(128, 14);
    first_slice = field(144, 13);
    array_pitch = field(160, 4);
    greatest_level = field(is_gfx10 ? 164 : 48, 4);
  }

  std::uint64_t base;
  std::uint32_t format;
  std::uint32_t width;  ///< of level 0, as the height
  std::uint32_t height;
  std::uint32_t depth;  ///< the last slice of an array, or of a three-dimensional image
  /// Texels a row, less one. Not on GFX9, in the bits of the depth, for images of one slice; 0: as the width asks for.
  std::uint32_t pitch;
  std::uint32_t first_slice;
  std::uint32_t array_pitch;
  std::uint32_t type;
  std::uint32_t swizzle_mode;  ///< 0: linear
  std::uint32_t base_level;    ///< which the instruction's level 0 is
  std::uint32_t last_level;
  std::uint32_t greatest_level;  ///< of those that are in memory
  std::uint32_t least_level;     ///< MIN_LOD, with 8 bits of fraction
  std::array<std::uint8_t, 4> selected;
};

struct ImageSampler {
  enum class Clamp : std::uint8_t {
    wrap,
    mirror,
    last_texel,
    mirror_once_last_texel,
    half_border,
    mirror_once_half_border,
    border,
    mirror_once_border,
  };
  enum class Filter : std::uint8_t { point, linear, anisotropic_point, anisotropic_linear };
  enum class DepthFilter : std::uint8_t { as_xy, point, linear };
  enum class LevelFilter : std::uint8_t { none, point, linear, point_for_anisotropy };
  enum class Border : std::uint8_t { transparent_black, opaque_black, opaque_white, of_register };

  ImageSampler(const std::uint32_t (&words)[4], ImageDescriptors layout) {
    const auto field = [&](unsigned first, unsigned count) {
      return static_cast<std::uint32_t>(descriptor_field(words, first, count));
    };
    for (unsigned axis = 0; axis < 3; ++axis) clamp.at(axis) = static_cast<Clamp>(field(3 * axis, 3));
    compare = field(12, 3);
    unnormalized = field(15, 1) != 0;
    has_degamma = field(20, 1) != 0 || field(layout == ImageDescriptors::gfx9 ? 108 : 31, 1) != 0;
    truncates = field(27, 1) != 0;
    reduction = field(29, 2);
    const unsigned level_bits = layout == ImageDescriptors::gfx12 ? 13 : 12;
    least_level = static_cast<float>(field(32, level_bits)) / 256;
    greatest_level = static_cast<float>(field(32 + level_bits, level_bits)) / 256;
    constexpr std::uint32_t sign = 1U << 13;
    bias = static_cast<float>(static_cast<std::int32_t>((field(64, 14) ^ sign) - sign)) / 256;
    magnifying = static_cast<Filter>(field(84, 2));
    minifying = static_cast<Filter>(field(86, 2));
    depth = static_cast<DepthFilter>(field(88, 2));
    levels = static_cast<LevelFilter>(field(90, 2));
    border = static_cast<Border>(field(126, 2));
  }

  std::array<Clamp, 3> clamp;
  std::uint32_t compare;  ///< never, less, equal, less or equal, greater, not equal, greater or equal, always
  bool unnormalized;
  bool has_degamma;         ///< FORCE_DEGAMMA or SKIP_DEGAMMA
  bool truncates;           ///< TRUNC_COORD
  std::uint32_t reduction;  ///< FILTER_MODE: 0 blends, others take the least or the greatest texel
  float least_level;
  float greatest_level;
  float bias;
  Filter magnifying;
  Filter minifying;
  DepthFilter depth;
  LevelFilter levels;
  Border border;
};

}  // namespace softgpu::compute::runtime
