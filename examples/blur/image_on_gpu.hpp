// An image in a GPU's memory, with a margin.
#pragma once

#include "image.hpp"

#include <fastdispatch/copy.hpp>
#include <fastdispatch/device_buffer.hpp>

#include <span>
#include <vector>

/// Owner of the pixels of an image of `image`'s size, with a row of zeros before and behind: a kernel that reads beyond
/// the first or the last row reads these.
class ImageOnGpu {
public:
  ImageOnGpu(fastdispatch::Agent gpu, const Image& image)
      : memory_(gpu, image.pixels.size() + 2 * image.width),
        pixels_(memory_.subspan(image.width, image.pixels.size())) {
    const std::vector<Pixel> zeros(memory_.size());
    fastdispatch::copy(memory_, std::span(zeros));
  }

  /// All zero at first; views.
  [[nodiscard]] fastdispatch::DeviceSpan<Pixel> pixels() const { return pixels_; }

private:
  fastdispatch::DeviceBuffer<Pixel> memory_;
  fastdispatch::DeviceSpan<Pixel> pixels_;
};
