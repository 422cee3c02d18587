// The command line of blur.
#pragma once

#include "image_options.hpp"
#include "program.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

/// Work-items of a work-group.
struct GroupShape {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
};

struct Options {
  CommonOptions common{.device = 0, .iterations = 10, .json = {}};
  ImageOptions image;
  std::uint32_t passes = 4;
  std::vector<GroupShape> groups;  ///< of the tiled variants, at least one
  bool progress = false;
  fastdispatch::Fences fences = fastdispatch::Fences::minimal;
  std::optional<std::filesystem::path> plot;
};

/// Ends the program after --help and after a usage error.
[[nodiscard]] Options parse_command_line(int argc, char** argv);
