#include "report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iomanip>
#include <ostream>

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 != 0) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

void print_table(std::ostream& stream, const Setting& setting, const std::vector<Row>& rows) {
  stream << setting.length << " unsigned integers, " << setting.kernels << " kernels, both copies, on " << setting.gpu
         << (setting.softgpu ? " (soft GPU)" : "") << "; median of " << rows.front().microseconds.size() << "\n\n";
  std::size_t widest = 0;
  for (const Row& row : rows) widest = std::max(widest, row.name.size());
  const int width = static_cast<int>(widest);
  stream << std::left << std::setw(width) << "" << std::right << std::setw(15) << "us/iteration" << std::setw(13)
         << "difference" << std::setw(9) << "total"
         << "\n";
  const double first = median(rows.front().microseconds);
  double before = first;
  for (const Row& row : rows) {
    const double time = median(row.microseconds);
    stream << std::left << std::setw(width) << row.name << std::right << std::fixed << std::setprecision(1)
           << std::setw(15) << time;
    if (&row == &rows.front()) {
      stream << std::setw(13) << "" << std::setw(9) << "";
    } else {
      stream << std::showpos << std::setw(13) << time - before << std::noshowpos << std::setw(8) << std::setprecision(2)
             << first / time << "x";
    }
    stream << "   " << (row.sorted ? "sorted" : "NOT SORTED") << "\n";
    before = time;
  }
}

void write_json(OutputFile& file, const Setting& setting, const std::vector<Row>& rows) {
  nlohmann::ordered_json document = {
      {"gpu", setting.gpu},       {"softgpu", setting.softgpu}, {"runtime", setting.runtime},
      {"length", setting.length}, {"kernels", setting.kernels}, {"iterations", rows.front().microseconds.size()},
  };
  const double first = median(rows.front().microseconds);
  double before = first;
  for (const Row& row : rows) {
    const double time = median(row.microseconds);
    document["rows"].push_back({{"name", row.name},
                                {"microseconds", time},
                                {"fastest", *std::min_element(row.microseconds.begin(), row.microseconds.end())},
                                {"difference", time - before},
                                {"ratio", first / time},
                                {"sorted", row.sorted}});
    before = time;
  }
  file.write(document.dump(2) + "\n");
}
