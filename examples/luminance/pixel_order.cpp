#include "pixel_order.hpp"

#include <algorithm>
#include <numeric>
#include <random>

PixelOrder row_by_row(const Image& image) {
  PixelOrder order(image.pixels.size());
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

PixelOrder column_by_column(const Image& image) {
  PixelOrder order;
  order.reserve(image.pixels.size());
  for (std::uint32_t x = 0; x < image.width; ++x) {
    for (std::uint32_t y = 0; y < image.height; ++y) order.push_back(y * image.width + x);
  }
  return order;
}

PixelOrder at_random(const Image& image) {
  PixelOrder order = row_by_row(image);
  std::shuffle(order.begin(), order.end(), std::mt19937(1));
  return order;
}
