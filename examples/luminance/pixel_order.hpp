// Orders in which work-items may take the pixels of an image: work-item i reads pixel order[i].
#pragma once

#include "image.hpp"

#include <cstdint>
#include <vector>

using PixelOrder = std::vector<std::uint32_t>;

/// As the pixels lie in memory.
[[nodiscard]] PixelOrder row_by_row(const Image& image);
/// Neighbours read pixels that are a row apart.
[[nodiscard]] PixelOrder column_by_column(const Image& image);
/// The same each time.
[[nodiscard]] PixelOrder at_random(const Image& image);
