// What the image decoder does not check: that a file is whole.
#pragma once

#include <cstdint>
#include <span>

/// Throws std::runtime_error, telling the byte, where the file is no PNG and no JPEG, ends early, or holds a PNG chunk
/// whose checksum is wrong. The data of a JPEG have no checksum.
void require_whole_image(std::span<const std::uint8_t> file);
