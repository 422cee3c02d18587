// What the runs took: a table for people, JSON for programs.
#pragma once

#include "output_file.hpp"

#include <cstddef>
#include <iosfwd>
#include <string>
#include <vector>

/// One way to run the sort, and the time of each of its iterations.
struct Row {
  std::string name;
  std::vector<double> microseconds;
  bool sorted = true;
};

/// What all rows have in common.
struct Setting {
  std::string gpu;
  std::string runtime;
  bool softgpu = false;
  std::size_t length = 0;
  std::size_t kernels = 0;  ///< an iteration
};

[[nodiscard]] double median(std::vector<double> values);

void print_table(std::ostream& stream, const Setting& setting, const std::vector<Row>& rows);
void write_json(OutputFile& file, const Setting& setting, const std::vector<Row>& rows);
