// One table over the JSON files of the example programs: what each program computed, which variant was the fastest, and
// whether every result was right. On demand a page, too, with each program's own table, its charts and its images.
#include "command_line.hpp"
#include "output_file.hpp"
#include "page.hpp"
#include "program.hpp"
#include "summary.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// What is neither a chart nor an image is a report; charts and images belong to the report before them.
std::vector<ReportFile> read_reports(const std::vector<std::string>& files) {
  std::vector<ReportFile> reports;
  for (const std::filesystem::path file : files) {
    if (file.extension() != ".svg" && file.extension() != ".png") {
      reports.push_back(read_report(file));
    } else if (!reports.empty()) {
      reports.back().pictures.push_back(read_picture(file));
    } else {
      throw std::runtime_error(file.string() + ": there is no report before it");
    }
  }
  return reports;
}

void print(std::ostream& stream, const Table& table) {
  std::vector<std::size_t> widths(table.lines.front().size());
  for (const std::vector<std::string>& line : table.lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  const auto width = [&widths](std::size_t column) { return std::setw(static_cast<int>(widths[column])); };
  for (const std::vector<std::string>& line : table.lines) {
    stream << std::left << width(0) << line[0] << "   " << width(1) << line[1] << "   " << width(2) << line[2] << "   "
           << std::right << width(3) << line[3] << "   " << line[4] << "\n";
  }
  for (const std::string& note : table.notes) stream << "\n" << note << "\n";
}

int run(const std::vector<std::string>& files, const std::optional<std::filesystem::path>& page) {
  std::optional<OutputFile> page_file;
  if (page) page_file.emplace(*page);
  const std::vector<ReportFile> reports = read_reports(files);
  const Table summary = summary_of(reports);
  print(page_file && page_file->is_standard_output() ? std::cerr : std::cout, summary);
  if (page_file) {
    std::ostringstream text;
    write_page(text, summary, reports);
    page_file->write(text.view());
    page_file->commit();
  }
  if (!std::all_of(reports.begin(), reports.end(), is_right)) throw std::runtime_error("results are wrong");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program("example_summary", [&] {
    std::vector<std::string> files;
    std::optional<std::filesystem::path> page;
    CommandLine line("Prints one table over the JSON files of the example programs.", "example_summary");
    line.option("FILE", &files,
                "What an example wrote by --json; behind it, for the page, its charts (.svg) and images (.png)")
        .required();
    line.option("--page", &page, "Write a page (HTML) with all tables and pictures; - is standard output")
        .value_name("FILE");
    line.parse_or_exit(argc, argv);
    return run(files, page);
  });
}
