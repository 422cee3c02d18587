#include "host_luma.hpp"

#include "host_loop.hpp"

#include <cmath>
#include <cstddef>

void luma_on_host(std::span<const PaddedPixel> image, std::span<float> result) {
  for_each_band(image.size(), [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i)
      result[i] = .299F * image[i].red + .587F * image[i].green + .114F * image[i].blue;
  });
}

double largest_error(std::span<const PaddedPixel> image, std::span<const float> result, const PixelOrder& order) {
  double largest = 0;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const PaddedPixel& pixel = image[order.empty() ? i : order[i]];
    const double expected = .299 * pixel.red + .587 * pixel.green + .114 * pixel.blue;
    const double error = std::abs(result[i] - expected);
    if (!(error <= largest)) largest = error;  // not a number is an error, too
  }
  return largest;
}
