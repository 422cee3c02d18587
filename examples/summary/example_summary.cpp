// One table over the JSON files of the example programs: what each program computed, which variant was the fastest, and
// whether every result was right.
#include "command_line.hpp"
#include "standard_output.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::json;

struct Line {
  std::string program;
  std::string problem;
  std::string fastest;
  std::string microseconds;
  std::string results;
  bool right = true;
};

std::string fixed(double value) {
  std::ostringstream text;
  text << std::fixed << std::setprecision(1) << value;
  return text.str();
}

Line line_of(const Json& report) {
  Line line = {.program = report.at("program"),
               .problem = report.at("problem"),
               .fastest = {},
               .microseconds = {},
               .results = {}};
  std::size_t correct = 0;
  std::size_t shown = 0;
  double least = 0;
  for (const Json& row : report.at("rows")) {
    if (!row.at("correct")) {
      if (row.value("shows_an_error", false)) ++shown;
      continue;
    }
    ++correct;
    const auto time = row.find("microseconds");
    if (time != row.end() && !row.value("compares", false) && (line.fastest.empty() || *time < least)) {
      least = *time;
      line.fastest = row.at("name");
      line.microseconds = fixed(least);
    }
  }
  line.results = std::to_string(correct) + " correct";
  if (shown > 0) line.results += ", " + std::to_string(shown) + " wrong as expected";
  const std::size_t wrong = report.at("rows").size() - correct - shown;
  if (wrong > 0) line.results += ", " + std::to_string(wrong) + " WRONG";
  line.right = wrong == 0;
  return line;
}

Line read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  try {
    return line_of(Json::parse(file));
  } catch (const Json::exception& error) {
    throw std::runtime_error(path + " is no report of an example: " + error.what());
  }
}

void print(const std::vector<Line>& lines) {
  const auto widest = [&lines](std::string Line::*text) {
    std::size_t width = 0;
    for (const Line& line : lines) width = std::max(width, (line.*text).size());
    return static_cast<int>(width);
  };
  for (const Line& line : lines) {
    std::cout << std::left << std::setw(widest(&Line::program)) << line.program << "   "
              << std::setw(widest(&Line::problem)) << line.problem << "   " << std::setw(widest(&Line::fastest))
              << line.fastest << std::right << std::setw(widest(&Line::microseconds) + 3) << line.microseconds << "   "
              << line.results << "\n";
  }
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("example_summary");
  std::vector<std::string> files;
  CommandLine command_line("Prints one table over the JSON files of the example programs.", "example_summary");
  command_line.option("REPORT.json", &files, "What an example wrote by --json").required();
  command_line.parse_or_exit(argc, argv);
  try {
    std::vector<Line> lines = {{.program = "program",
                                .problem = "problem",
                                .fastest = "fastest on the GPU",
                                .microseconds = "us",
                                .results = "results"}};
    for (const std::string& path : files) lines.push_back(read(path));
    print(lines);
    const bool right = std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.right; });
    if (!right) throw std::runtime_error("results are wrong");
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "example_summary: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
