// Images, read from PNG and JPEG files and written as PNG.
#pragma once

#include "output_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

/// Red, green, blue and alpha, as the file has them: gamma-coded.
using Pixel = std::array<std::uint8_t, 4>;

/// Rows from the top, without gaps.
struct Image {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<Pixel> pixels;
};

/// As many as the PNG library can write, more than any camera takes.
inline constexpr std::size_t most_pixels = 200'000'000;

/// Reads a PNG (16 bits a channel become 8) or a JPEG (an EXIF orientation is not applied). Throws std::runtime_error
/// with the file and its fault: no such file, no image, cut off, damaged, too large.
[[nodiscard]] Image read_image(const std::filesystem::path& path);

/// Writes a PNG of 1 (grey), 3 or 4 bytes a pixel. `bytes` are width * height * channels, up to most_pixels.
void write_png(OutputFile& file, std::uint32_t width, std::uint32_t height, unsigned channels,
               std::span<const std::uint8_t> bytes);
void write_png(OutputFile& file, const Image& image);

/// A test chart: gradients of every colour, rings that grow finer towards their rim, and edges.
[[nodiscard]] Image draw_chart(std::uint32_t width, std::uint32_t height);
