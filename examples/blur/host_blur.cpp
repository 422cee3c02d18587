#include "host_blur.hpp"

#include "host_loop.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace {

std::uint8_t mean(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e) {
  return static_cast<std::uint8_t>((a + b + c + d + e + 2) / 5);
}

// All channels are alike, and a neighbour's channels are 4 bytes away. So a row without the two pixels at its ends is
// one loop over bytes, which the compiler turns into vector code.
void blur_row(const std::uint8_t* above, const std::uint8_t* row, const std::uint8_t* below,
              std::uint8_t* __restrict to, std::size_t bytes) {
  constexpr std::size_t pixel = sizeof(Pixel);
  const auto blur_at = [&](std::size_t i) {
    const std::size_t left = i < pixel ? i : i - pixel;
    const std::size_t right = i + pixel < bytes ? i + pixel : i;
    to[i] = mean(row[i], row[left], row[right], above[i], below[i]);
  };
  for (std::size_t i = 0; i < pixel; ++i) blur_at(i);
  for (std::size_t i = pixel; i + pixel < bytes; ++i)
    to[i] = mean(row[i], row[i - pixel], row[i + pixel], above[i], below[i]);
  for (std::size_t i = std::max(pixel, bytes - pixel); i < bytes; ++i) blur_at(i);
}

void blur_once(const Image& from, Image& to) {
  const auto* const source = reinterpret_cast<const std::uint8_t*>(from.pixels.data());
  auto* const destination = reinterpret_cast<std::uint8_t*>(to.pixels.data());
  const std::size_t pitch = from.width * sizeof(Pixel);
  for_each_band(from.height, [&](std::size_t first, std::size_t last) {
    for (std::size_t y = first; y < last; ++y) {
      const std::size_t above = y == 0 ? 0 : y - 1;
      const std::size_t below = std::min<std::size_t>(y + 1, from.height - 1);
      blur_row(source + above * pitch, source + y * pitch, source + below * pitch, destination + y * pitch, pitch);
    }
  });
}

}  // namespace

Image blur_on_host(const Image& image, std::uint32_t passes) {
  Image result = image;
  blur_once(image, result);
  if (passes == 1) return result;
  Image other = image;
  for (std::uint32_t pass = 1; pass < passes; ++pass) {
    blur_once(result, other);
    std::swap(result, other);
  }
  return result;
}
