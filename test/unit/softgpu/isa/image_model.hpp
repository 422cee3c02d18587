// Images as their descriptors tell, and what a sampler makes of them: the reference of the tests of image instructions.
// Written from the RDNA2 and RDNA3 ISA manuals ("Image Resource", "Sampler Resource"), for CDNA2 and RDNA4 from ROCr's
// resource_ai.h and resource_gfx12.h, and from the OpenCL 1.2 specification, section 8.2 ("Image Addressing and
// Filtering").
#pragma once

#include <array>
#include <string>
#include <vector>

#include "element_format.hpp"
#include "harness.hpp"
#include "machine_state.hpp"

namespace softgpu::isa::image {

enum class Kind : std::uint8_t { one, two, three, cube, one_array, two_array, two_samples };

/// DST_SEL of X, Y, Z and W: 0 and 1 are constants, 4 to 7 components.
using Selection = std::array<u32, 4>;
inline constexpr Selection in_order = {4, 5, 6, 7};

struct Image {
  Kind kind = Kind::two;
  u32 width = 1;
  u32 height = 1;
  u32 depth = 1;  ///< or slices
  ElementFormat format;
  u32 format_number = 0;
  bool is_linear = false;
  u32 pitch = 0;        ///< in texels, of linear images; 0: the descriptor says none
  u32 first_slice = 0;  ///< that a view of an array has
  u32 levels = 1;
  u32 base_level = 0;  ///< of the view
  Selection selection = in_order;

  [[nodiscard]] unsigned axes() const;  ///< without the slices of an array
  [[nodiscard]] bool is_array() const { return kind == Kind::one_array || kind == Kind::two_array; }
  [[nodiscard]] u32 size(unsigned axis, u32 level) const;  ///< of a level of the view
  /// The eight dwords of the descriptor, for the tested target.
  [[nodiscard]] std::array<u32, 8> descriptor(u64 base) const;
  /// From the image's first byte on; nothing out of range: -1.
  [[nodiscard]] i64 offset(u32 level, const std::array<i64, 3>& place) const;
};

struct Sampler {
  std::array<u32, 3> clamp = {};
  bool is_unnormalized = false;
  bool is_linear = false;
  u32 mip_filter = 0;
  u32 border = 0;
  u32 compare = 0;
  double least_level = 0;
  double greatest_level = 15;
  double bias = 0;

  [[nodiscard]] std::array<u32, 4> descriptor() const;
};

/// Formats of the tested target, with their numbers.
struct NumberedFormat {
  ElementFormat format;
  u32 number = 0;
};
[[nodiscard]] const std::vector<NumberedFormat>& image_formats();
[[nodiscard]] const NumberedFormat& image_format(const std::string& name);  ///< "8_8_8_8 UNORM"

/// Where an image is in the window of memory: at the first multiple of 256.
[[nodiscard]] u64 image_base(const MachineState& state);
[[nodiscard]] std::uint8_t* texel(MachineState& state, const Image& image, i64 offset);

/// What an instruction asks for, once its addresses have been taken apart.
struct Sample {
  std::array<double, 3> coordinates = {};
  std::array<int, 3> offsets = {};
  double slice = 0;
  double level = 0;
  double reference = 0;
  bool compares = false;
};
[[nodiscard]] std::array<double, 4> sampled(MachineState& state, const Image& image, const Sampler& sampler,
                                            const Sample& sample);
/// The component of the four texels that a linear filter would blend.
[[nodiscard]] std::array<double, 4> gathered(MachineState& state, const Image& image, const Sampler& sampler,
                                             const Sample& sample, unsigned component);

// --- For the tests

/// Of the tested target.
[[nodiscard]] bool has_images();
/// The cases whose instructions the target has.
void expect_image_match(const std::vector<Case>& cases, Options options = {});
[[nodiscard]] Image image_of(Kind kind, u32 width, u32 height, u32 depth, const std::string& format);
/// Puts the descriptors into s[4:11] and s[12:15].
void put_descriptors(MachineState& state, const Image& image, const Sampler& sampler = {});
/// "v[4:5]".
[[nodiscard]] std::string tuple(unsigned first, unsigned count);
/// Registers with addresses: "v[4:5]", on RDNA4 "[v4, v5]", where the fourth register and those behind it are one
/// operand of instructions with a sampler.
[[nodiscard]] std::string address_text(unsigned first, unsigned count);
/// " unorm", which instructions without a sampler have no more on RDNA4.
[[nodiscard]] std::string texel_addresses();
/// " dim:SQ_RSRC_IMG_2D". On gfx90a only arrays are told.
[[nodiscard]] std::string dimension_text(Kind kind);
/// With the slice of an array.
[[nodiscard]] unsigned coordinate_count(Kind kind);

}  // namespace softgpu::isa::image
