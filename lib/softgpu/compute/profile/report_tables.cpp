#include "softgpu/compute/profile/report_tables.hpp"

#include <array>
#include <cstdio>

namespace softgpu::compute::profile {
namespace {

std::string percent(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "-";
  std::array<char, 16> text{};
  static_cast<void>(std::snprintf(text.data(), text.size(), "%.1f %%",
                                  100.0 * static_cast<double>(part) / static_cast<double>(whole)));
  return text.data();
}

std::string number(std::uint64_t value) { return std::to_string(value); }

}  // namespace

std::string heading_of(const KernelSummary& kernel) {
  return kernel.name + ": " + number(kernel.wavefronts) + " wavefronts of " + number(kernel.lanes) + " lanes, " +
         kernel.architecture;
}

Table totals_table(const KernelSummary& kernel) {
  const Totals& totals = kernel.totals;
  Table table = {{"executed by wavefronts", "count"}, {"instructions", number(totals.instructions)}};
  for (std::size_t i = 0; i < category_count; ++i) {
    if (totals.by_category.at(i) == 0) continue;
    std::string word = word_for(static_cast<Category>(i));
    for (char& letter : word)
      if (letter == '_') letter = ' ';
    table.push_back({"  " + word, number(totals.by_category.at(i))});
  }
  table.push_back({"active lanes of vector instructions", percent(totals.active_lanes, totals.lanes)});
  if (totals.lds_passes != 0) {
    table.push_back({"LDS passes", number(totals.lds_passes)});
    table.push_back({"passes added by bank conflicts", number(totals.lds_conflicts)});
  }
  return table;
}

Table access_table(const KernelSummary& kernel) {
  Table table = {{"accesses", "bytes a lane", "count", "consecutive", "uniform", "strided", "scattered"}};
  for (const AccessRow& row : kernel.accesses) {
    std::uint64_t count = 0;
    for (const std::uint64_t each : row.by_shape) count += each;
    std::vector<std::string>& cells = table.emplace_back();
    cells = {std::string(word_for(row.space)) + " " + word_for(row.direction), number(row.bytes), number(count)};
    for (const std::uint64_t each : row.by_shape) cells.push_back(row.space == Space::scratch ? "-" : number(each));
  }
  return table;
}

Table line_table(const KernelSummary& kernel) {
  Table table = {
      {"source line", "instructions", "active lanes", "accesses", "scattered", "bank conflicts", "barriers"}};
  for (const auto& [line, totals] : kernel.lines)
    table.push_back({line.empty() ? "(no line)" : line, number(totals.instructions),
                     percent(totals.active_lanes, totals.lanes), number(totals.accesses), number(totals.scattered),
                     number(totals.lds_conflicts),
                     number(totals.by_category.at(static_cast<std::size_t>(Category::barrier)))});
  return table;
}

}  // namespace softgpu::compute::profile
