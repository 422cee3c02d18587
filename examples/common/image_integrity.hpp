// Checks that an image file is whole. The image decoder does not check this.
#pragma once

#include <cstdint>
#include <span>

/// Throws std::runtime_error, telling the byte, if the file is neither a PNG nor a JPEG, ends early, or holds a PNG
/// chunk with a wrong checksum. The data of a JPEG have no checksum.
void require_whole_image(std::span<const std::uint8_t> file);
