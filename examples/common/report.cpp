#include "report.hpp"

#include "host_loop.hpp"

#include <fastdispatch/version.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace {

// The words of this process's command line.
std::vector<std::string> own_command() {
  std::vector<std::string> words;
  std::ifstream file("/proc/self/cmdline");
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  return words;
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::ostringstream text;
  text << std::put_time(std::gmtime(&now), "%Y-%m-%d %H:%M UTC");
  return text.str();
}

std::string text_of(double value, int digits, const char* suffix) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(digits) << value << suffix;
  return text.str();
}

// The figures' headings, in the order in which the rows bring them.
std::vector<std::string> headings_of(const std::vector<Row>& rows) {
  std::vector<std::string> headings;
  for (const Row& row : rows) {
    for (const Figure& figure : row.figures) {
      if (std::find(headings.begin(), headings.end(), figure.heading) == headings.end()) {
        headings.push_back(figure.heading);
      }
    }
  }
  return headings;
}

std::string figure_text(const Row& row, const std::string& heading) {
  const auto found = std::find_if(row.figures.begin(), row.figures.end(),
                                  [&heading](const Figure& figure) { return figure.heading == heading; });
  return found == row.figures.end() ? "" : found->text;
}

// Whether the iterations spread so far that the median may be chance: the slowest quarter took more than 1.25 times as
// long as the fastest quarter.
bool is_doubtful(std::vector<double> times) {
  constexpr double most = 1.25;
  if (times.size() < 4) return false;
  std::sort(times.begin(), times.end());
  const std::size_t quarter = times.size() / 4;
  return times[times.size() - 1 - quarter] > most * times[quarter];
}

std::size_t most_iterations(const std::vector<Row>& rows) {
  std::size_t iterations = 0;
  for (const Row& row : rows) iterations = std::max(iterations, row.microseconds.size());
  return iterations;
}

double fastest(const Row& row) { return *std::min_element(row.microseconds.begin(), row.microseconds.end()); }

std::string verdict_of(const Report& report, const Row& row) {
  const std::string verdict = row.correct ? report.verdict : row.shows_an_error ? "wrong, as expected" : "WRONG";
  return row.remark.empty() ? verdict : verdict + ": " + row.remark;
}

// The first line is the headings; the last cell of a line is the verdict.
std::vector<std::vector<std::string>> cells_of(const Report& report) {
  const std::vector<std::string> headings = headings_of(report.rows);
  const bool repeated = most_iterations(report.rows) > 1;
  std::vector<std::vector<std::string>> lines = {{"", "us"}};
  if (repeated) lines.front().emplace_back("fastest");
  lines.front().insert(lines.front().end(), headings.begin(), headings.end());
  lines.front().emplace_back();
  for (const Row& row : report.rows) {
    std::vector<std::string>& line = lines.emplace_back();
    line.push_back(row.name);
    const bool timed = !row.microseconds.empty();
    line.push_back(timed ? text_of(median(row.microseconds), 1, "") : "");
    if (repeated) line.push_back(timed ? text_of(fastest(row), 1, "") : "");
    for (const std::string& heading : headings) line.push_back(figure_text(row, heading));
    line.push_back(verdict_of(report, row));
  }
  return lines;
}

}  // namespace

Figure figure(std::string heading, double value, int digits, const char* suffix) {
  return {.heading = std::move(heading), .value = value, .text = text_of(value, digits, suffix)};
}

Figure scientific_figure(std::string heading, double value) {
  std::ostringstream text;
  text << std::scientific << std::setprecision(1) << value;
  return {.heading = std::move(heading), .value = value, .text = text.str()};
}

Report report_on(std::string program, std::string problem, const fastdispatch::Runtime& runtime,
                 fastdispatch::Agent gpu) {
  return {.program = std::move(program),
          .problem = std::move(problem),
          .gpu = gpu.name(),
          .runtime = std::string(runtime.library_path()),
          .softgpu = runtime.on_softgpu(),
          .rows = {},
          .gpu_product = gpu.properties().product_name,
          .host = runtime.host().properties().product_name + ", " + counted(host_threads(), "thread"),
          .hsa_version = std::string(runtime.version())};
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::string counted(std::size_t number, const std::string& noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

std::string title_of(const Report& report) {
  return report.problem + ", on " + report.gpu + (report.softgpu ? " (soft GPU)" : "");
}

Table table_of(const Report& report) {
  Table table = {.caption = title_of(report) + "; median of " + std::to_string(most_iterations(report.rows)),
                 .lines = cells_of(report),
                 .notes = {}};
  std::vector<bool> doubtful;
  doubtful.reserve(report.rows.size());
  for (const Row& row : report.rows) doubtful.push_back(is_doubtful(row.microseconds));
  mark_doubtful(table, 1, doubtful);
  if (report.softgpu && !report.beyond_softgpu.empty())
    table.notes.push_back("A soft GPU does not show " + report.beyond_softgpu + ".");
  return table;
}

void print_report(std::ostream& stream, const Report& report) {
  const Table table = table_of(report);
  stream << table.caption << "\n\n";

  std::vector<std::size_t> widths(table.lines.front().size());
  for (const std::vector<std::string>& line : table.lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const std::vector<std::string>& line : table.lines) {
    stream << std::left << std::setw(static_cast<int>(widths[0])) << line[0] << std::right;
    for (std::size_t i = 1; i + 1 < line.size(); ++i) stream << std::setw(static_cast<int>(widths[i] + 3)) << line[i];
    stream << (line.back().empty() ? "" : "   ") << line.back() << "\n";
  }
  for (const std::string& note : table.notes) stream << "\n" << note << "\n";
}

void present(const Report& report, std::optional<OutputFile>& json, const std::optional<OutputFile>& output) {
  const bool standard_output_is_taken =
      (json && json->is_standard_output()) || (output && output->is_standard_output());
  print_report(standard_output_is_taken ? std::cerr : std::cout, report);
  if (!json) return;
  write_json(*json, report);
  json->commit();
}

void write_json(OutputFile& file, const Report& report) {
  const Table table = table_of(report);
  nlohmann::ordered_json document = {
      {"program", report.program},
      {"problem", report.problem},
      {"gpu", report.gpu},
      {"gpu_product", report.gpu_product},
      {"softgpu", report.softgpu},
      {"host", report.host},
      {"runtime", report.runtime},
      {"hsa_version", report.hsa_version},
      {"fastdispatch_version", fastdispatch::version},
      {"date", date_now()},
      {"command", own_command()},
      {"rows", nlohmann::ordered_json::array()},
      {"table", {{"caption", table.caption}, {"lines", table.lines}, {"notes", table.notes}}},
  };
  for (const Row& row : report.rows) {
    nlohmann::ordered_json& entry = document["rows"].emplace_back();
    entry["name"] = row.name;
    if (!row.microseconds.empty()) {
      entry["microseconds"] = median(row.microseconds);
      entry["fastest"] = fastest(row);
      entry["doubtful"] = is_doubtful(row.microseconds);
      entry["iterations"] = row.microseconds.size();
    }
    for (const Figure& figure : row.figures) entry[figure.heading] = figure.value;
    entry["correct"] = row.correct;
    if (row.compares) entry["compares"] = true;
    if (row.shows_an_error) entry["shows_an_error"] = true;
  }
  constexpr auto replace = nlohmann::ordered_json::error_handler_t::replace;  // what is no UTF-8, such as a file's name
  file.write(document.dump(2, ' ', false, replace) + "\n");
}

void require_correct(const Report& report) {
  for (const Row& row : report.rows) {
    if (!row.correct && !row.shows_an_error) throw std::runtime_error("the result of '" + row.name + "' is wrong");
  }
}
