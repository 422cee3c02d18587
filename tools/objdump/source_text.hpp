// The text of source lines.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

/// Reads each file once.
class SourceText {
public:
  /// The text of a line, from 1, without the blanks around it; empty where there is no such file or line.
  [[nodiscard]] std::string line(const std::filesystem::path& file, std::size_t number);

private:
  const std::vector<std::string>& lines_of(const std::filesystem::path& file);

  std::map<std::filesystem::path, std::vector<std::string>> files_;
};
