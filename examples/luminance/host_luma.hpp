// The luma as a loop over all cores of the host, and how far a result is from it.
#pragma once

#include "pixel_order.hpp"

#include "luminance_pixels.hpp"

#include <span>

void luma_on_host(std::span<const PaddedPixel> image, std::span<float> result);

/// How far `result` is from sums in double precision. result[i] is of pixel order[i]; without an order, of pixel i.
[[nodiscard]] double largest_error(std::span<const PaddedPixel> image, std::span<const float> result,
                                   const PixelOrder& order = {});
