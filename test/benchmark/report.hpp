// The benchmarks' output: groups of medians, and targets that were reached or missed.
#pragma once

#include "samples.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <string>
#include <vector>

struct Line {
  std::string text;
  std::string series;
};

struct Group {
  std::string title;
  double units_per_microsecond;
  std::vector<Line> lines;  // the first is what the others are compared with
};

/// A line whose series has no samples is "not measured"; the first line of each group has samples.
void print(const std::vector<Group>& groups, const Samples& samples);

/// "reached" if a line is `wanted` times as fast as another. If `wanted` is below 1, it may be slower.
void print_target(const std::string& text, double times_faster, double wanted);

/// The medians' file. Opened before anything is measured, so that a wrong name costs no time.
class JsonFile {
public:
  /// An empty path: no file. Throws where the file can't be made.
  explicit JsonFile(const std::string& path);
  /// Each line's median, null where it was not measured; and the members of the object `more`.
  void write(const std::string& gpu, const std::vector<Group>& groups, const Samples& samples,
             const nlohmann::ordered_json& more = nlohmann::ordered_json::object());

private:
  std::ofstream file_;
};
