// The command line of luminance.
#pragma once

#include "image_options.hpp"
#include "program.hpp"

#include <filesystem>
#include <optional>

struct Options {
  CommonOptions common{.device = 0, .iterations = 20, .json = {}};
  ImageOptions image;
  fastdispatch::Fences fences = fastdispatch::Fences::minimal;
  std::optional<std::filesystem::path> plot;
};

/// Ends the program after --help and after a usage error.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
