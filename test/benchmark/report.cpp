#include "report.hpp"

#include <iomanip>
#include <iostream>
#include <stdexcept>

void print(const std::vector<Group>& groups, const Samples& samples) {
  std::cout << std::fixed;
  for (const Group& group : groups) {
    std::cout << "\n" << group.title << "\n";
    const double first = samples.median(group.lines.front().series);
    for (const auto& [text, series] : group.lines) {
      std::cout << "  " << std::left << std::setw(44) << text << std::right << std::setprecision(2);
      if (samples.has(series)) {
        const double time = samples.median(series);
        std::cout << std::setw(12) << time * group.units_per_microsecond << std::setw(10) << time / first << "x\n";
      } else {
        std::cout << "not measured\n";
      }
    }
  }
}

void print_target(const std::string& text, double times_faster, double wanted) {
  std::cout << "  " << (times_faster >= wanted ? "reached" : "missed ") << "  " << text << " (" << std::setprecision(2)
            << times_faster << " times as fast)\n";
}

JsonFile::JsonFile(const std::string& path) {
  if (!path.empty()) file_.open(path);
  if (!file_) throw std::runtime_error("cannot write " + path);
}

void JsonFile::write(const std::string& gpu, const std::vector<Group>& groups, const Samples& samples,
                     const nlohmann::ordered_json& more) {
  if (!file_.is_open()) return;
  nlohmann::ordered_json document = {{"gpu", gpu}, {"unit", "us"}};
  for (const Group& group : groups) {
    for (const Line& line : group.lines) {
      nlohmann::ordered_json& median = document["medians"][line.series];
      if (samples.has(line.series)) median = samples.median(line.series);
    }
  }
  document.update(more);
  file_ << document.dump(2) << std::endl;
  if (!file_) throw std::runtime_error("the JSON file cannot be written");
}
