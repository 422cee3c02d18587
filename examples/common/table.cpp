#include "table.hpp"

#include <algorithm>

void mark_doubtful(Table& table, std::size_t column, const std::vector<bool>& doubtful) {
  if (std::find(doubtful.begin(), doubtful.end(), true) == doubtful.end()) return;
  table.lines.front()[column] += "  ";
  for (std::size_t i = 0; i < doubtful.size(); ++i) table.lines[i + 1][column] += doubtful[i] ? " ~" : "  ";
  table.notes.emplace_back(
      "~ the iterations spread far: the slowest quarter took over 1.25 times as long as the fastest quarter");
}
