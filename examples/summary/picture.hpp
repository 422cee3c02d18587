// A chart or an image of an example, as a page embeds it.
#pragma once

#include <filesystem>
#include <string>

struct Picture {
  std::string file;  ///< its name without the folder
  bool is_chart = false;
  std::string url;  ///< a data: URL, which holds the whole picture
};

/// Reads a chart (.svg) or an image (.png). Throws std::runtime_error with the file's name where it cannot be read or
/// is damaged.
[[nodiscard]] Picture read_picture(const std::filesystem::path& path);
