#include "summary.hpp"

#include <algorithm>
#include <cstddef>
#include <iomanip>
#include <sstream>

namespace {

constexpr std::size_t time_column = 3;

bool is_wrong(const Measurement& row) { return !row.correct && !row.shows_an_error; }

// Null where no row has a time of the whole work on the GPU.
const Measurement* fastest(const std::vector<Measurement>& rows) {
  const Measurement* found = nullptr;
  for (const Measurement& row : rows) {
    if (!row.correct || row.compares || !row.microseconds) continue;
    if (found == nullptr || *row.microseconds < *found->microseconds) found = &row;
  }
  return found;
}

std::string results_of(const std::vector<Measurement>& rows) {
  const auto correct = std::count_if(rows.begin(), rows.end(), [](const Measurement& row) { return row.correct; });
  const auto wrong = std::count_if(rows.begin(), rows.end(), is_wrong);
  const auto shown = static_cast<std::ptrdiff_t>(rows.size()) - correct - wrong;
  std::string text = std::to_string(correct) + " correct";
  if (shown > 0) text += ", " + std::to_string(shown) + " wrong as expected";
  if (wrong > 0) text += ", " + std::to_string(wrong) + " WRONG";
  return text;
}

std::string text_of(double microseconds) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << microseconds;
  return text.str();
}

}  // namespace

Table summary_of(const std::vector<ReportFile>& reports) {
  Table table = {.caption = "The fastest variant of each program that does the whole work on the GPU",
                 .lines = {{"program", "problem", "fastest on the GPU", "us", "results"}},
                 .notes = {}};
  std::vector<bool> doubtful;
  for (const ReportFile& report : reports) {
    const Measurement* const best = fastest(report.rows);
    table.lines.push_back({report.program, report.problem, best == nullptr ? "" : best->name,
                           best == nullptr ? "" : text_of(*best->microseconds), results_of(report.rows)});
    doubtful.push_back(best != nullptr && best->doubtful);
  }
  mark_doubtful(table, time_column, doubtful);
  return table;
}

bool is_right(const ReportFile& report) { return std::none_of(report.rows.begin(), report.rows.end(), is_wrong); }
