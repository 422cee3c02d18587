// A table as people read it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

struct Table {
  std::string caption;
  std::vector<std::vector<std::string>> lines;  ///< cells; the first line is the headings
  std::vector<std::string> notes;               ///< below the table
};

/// Marks the doubtful times of a column. `doubtful` has a value for each line below the headings. Where a time is
/// marked, the other cells of the column are padded, and a note explains the mark.
void mark_doubtful(Table& table, std::size_t column, const std::vector<bool>& doubtful);
