// A report of an example program, read back from its JSON.
#pragma once

#include "picture.hpp"
#include "table.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// A row of the report: what a program, not a person, asks of it. See Row.
struct Measurement {
  std::string name;
  std::optional<double> microseconds;
  bool doubtful = false;
  bool correct = false;
  bool compares = false;
  bool shows_an_error = false;
};

struct ReportFile {
  std::string program;
  std::string problem;
  std::string device;   ///< "gfx90a (soft GPU), fastdispatch soft GPU"
  std::string host;     ///< the host's processor and its threads
  std::string runtime;  ///< the HSA runtime's file and version
  std::string fastdispatch_version;
  std::string date;
  std::vector<std::string> command;  ///< its words
  std::vector<Measurement> rows;
  Table table;
  std::vector<Picture> pictures{};  ///< not in the JSON: files of their own
};

/// Without pictures. Throws std::runtime_error with the file's name where it cannot be read or is no report.
[[nodiscard]] ReportFile read_report(const std::filesystem::path& path);
