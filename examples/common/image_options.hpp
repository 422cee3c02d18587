// Where the images of a program come from and go to.
#pragma once

#include "command_line.hpp"
#include "image.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

struct ImageOptions {
  std::uint32_t width = 1920;
  std::uint32_t height = 1080;
  std::optional<std::filesystem::path> input;
  std::optional<std::filesystem::path> output;
};

/// Adds --input, --width, --height and --output.
void add_image_options(CommandLine& line, ImageOptions& options);

/// The input image, or a test chart of the given size. Throws std::runtime_error where there is none, or where the work
/// on it, which takes `bytes_a_pixel`, needs more memory than is free.
[[nodiscard]] Image open_image(const ImageOptions& options, std::size_t bytes_a_pixel);
