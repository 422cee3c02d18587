// An image as its descriptor tells: where its texels lie in memory.
//
// Only image instructions access tiled images: ROCr's and HIP's copies to and from arrays are kernels that use them. So
// a tiled image is laid out here slice by slice, in each slice level by level, row by row, without gaps; this takes no
// more memory than any tiling. The host and other instructions access linear images, too: these have the true pitch.
#pragma once

#include <cstdint>
#include <optional>

#include "softgpu/compute/instruction_set/image_resource.hpp"
#include "softgpu/compute/run_time/element_format.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute::runtime {

/// Ends the wavefront: an image, a sampler or a buffer is of a kind that the soft GPU has not got. `what` is kept.
[[noreturn]] void refuse_resource(const char* what);

/// A texel within a level, by its column, row and slice.
struct TexelPlace {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
};

/// A view of the wavefront's descriptor: it must not outlive the instruction.
class ImageView {
public:
  /// Takes the descriptor that is in `state.image_resource`. Refuses what the soft GPU has not got.
  ImageView(const WaveState& state, ImageDescriptors layout);

  [[nodiscard]] const ImageResource& resource() const { return resource_; }
  /// Nothing: INVALID, which reads 0.
  [[nodiscard]] const std::optional<ElementFormat>& format() const { return format_; }
  [[nodiscard]] ImageDimension dimension() const { return dimension_; }
  [[nodiscard]] bool is_array() const {
    return dimension_ == ImageDimension::one_array || dimension_ == ImageDimension::two_array;
  }
  /// Of the view: 1 and more.
  [[nodiscard]] std::uint32_t levels() const { return resource_.last_level - resource_.base_level + 1; }

  struct Size {
    std::uint32_t width;
    std::uint32_t height;
    std::uint32_t depth;  ///< of an array: its slices; else of images of less than three dimensions 1
  };
  /// Of a level of the view.
  [[nodiscard]] Size size(std::uint32_t level) const;

  /// Nothing outside of the image. Of coordinates that the image has not got, `place` is not looked at.
  [[nodiscard]] std::optional<std::uint64_t> address(std::uint32_t level, TexelPlace place) const;

  /// The texel at an address, which must be the GPU's.
  [[nodiscard]] static ElementWords read(WaveState& state, std::uint64_t address, std::uint32_t bytes);
  static void write(WaveState& state, std::uint64_t address, const ElementWords& words, std::uint32_t bytes);

  /// What an instruction gets as a component (0: X) of a texel.
  [[nodiscard]] std::uint32_t component(const ElementWords& words, unsigned component, ComponentWidth width) const;

private:
  [[nodiscard]] std::uint32_t width_of(std::uint32_t level) const;
  [[nodiscard]] std::uint32_t height_of(std::uint32_t level) const;

  ImageResource resource_;
  std::optional<ElementFormat> format_;
  ImageDimension dimension_ = ImageDimension::one;
  std::uint32_t row_bytes_ = 0;  ///< of linear images
  std::uint64_t slice_bytes_ = 0;
};

}  // namespace softgpu::compute::runtime
