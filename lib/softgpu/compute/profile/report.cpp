#include "softgpu/compute/profile/report.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "softgpu/compute/profile/report_tables.hpp"
#include "trace_format/trace_event.hpp"

namespace softgpu::compute::profile {
namespace {

using trace_format::json_string;

constexpr std::string_view note =
    "LDS is a model of 32 banks; how lanes access it and memory is exact. docs/soft_gpu.md has the definitions.";

// --- Text

std::string text_of(const Table& table) {
  std::vector<std::size_t> widths(table.front().size());
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text;
  for (const auto& row : table) {
    text += "  " + row.front() + std::string(widths.front() - row.front().size(), ' ');
    for (std::size_t i = 1; i < row.size(); ++i) text += "  " + std::string(widths[i] - row[i].size(), ' ') + row[i];
    text += '\n';
  }
  return text;
}

// --- JSON

std::string member(std::string_view name, std::uint64_t value) {
  return json_string(name) + ":" + std::to_string(value);
}

std::string members_of(const Totals& totals) {
  std::string text = member("instructions", totals.instructions) + ",\"by_category\":{";
  for (std::size_t i = 0; i < category_count; ++i)
    text += std::string(i == 0 ? "" : ",") + member(word_for(static_cast<Category>(i)), totals.by_category.at(i));
  return text + "}," + member("lanes", totals.lanes) + "," + member("active_lanes", totals.active_lanes) + "," +
         member("accesses", totals.accesses) + "," + member("scattered", totals.scattered) + "," +
         member("lds_passes", totals.lds_passes) + "," + member("lds_conflicts", totals.lds_conflicts);
}

template <class Row, class Text>
std::string array_of(const std::vector<Row>& rows, Text&& text_of_row) {
  std::string text = "[";
  for (const Row& row : rows) text += std::string(text.size() == 1 ? "" : ",") + text_of_row(row);
  return text + "]";
}

std::string json_of(const AccessRow& row) {
  std::string text = std::string("{\"space\":") + json_string(word_for(row.space)) +
                     ",\"direction\":" + json_string(word_for(row.direction)) + "," + member("bytes", row.bytes);
  if (row.space == Space::scratch) return text + "," + member("count", row.by_shape.front()) + "}";
  for (std::size_t i = 0; i < shape_count; ++i)
    text += std::string(",") + member(word_for(static_cast<Shape>(i)), row.by_shape.at(i));
  return text + "}";
}

std::string json_of(const KernelSummary& kernel) {
  return std::string("{\"name\":") + json_string(kernel.name) +
         ",\"architecture\":" + json_string(kernel.architecture) + "," + member("wavefront_size", kernel.lanes) + "," +
         member("wavefronts", kernel.wavefronts) + "," + members_of(kernel.totals) +
         ",\"memory\":" + array_of(kernel.accesses, [](const AccessRow& row) { return json_of(row); }) + ",\"lines\":" +
         array_of(kernel.lines,
                  [](const LineRow& row) {
                    return std::string("{\"line\":") + json_string(row.line) + "," + members_of(row.totals) + "}";
                  }) +
         "}";
}

// --- HTML

constexpr std::string_view style = R"css(
:root { color-scheme: light dark; --soft: #59636e; --line: #d1d9e0; }
@media (prefers-color-scheme: dark) { :root { --soft: #9aa4af; --line: #3d444d; } }
body { max-width: 70rem; margin: 0 auto; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; }
section { margin-top: 3rem; border-top: 1px solid var(--line); }
h2 { overflow-wrap: anywhere; }
.scroll { overflow-x: auto; margin: 1rem 0; }
table { border-collapse: collapse; }
th, td { padding: 0.3rem 0.75rem; border-bottom: 1px solid var(--line); text-align: right; white-space: pre; }
th { color: var(--soft); font-weight: normal; }
td { font-family: ui-monospace, monospace; font-size: 0.9rem; }
:is(th, td):first-child { text-align: left; }
.note { color: var(--soft); }
)css";

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '<')
      result += "&lt;";
    else if (letter == '&')
      result += "&amp;";
    else
      result += letter;
  }
  return result;
}

std::string html_of(const Table& table) {
  std::string text = "<div class=\"scroll\"><table>\n";
  for (const auto& row : table) {
    const std::string tag = &row == &table.front() ? "th" : "td";
    text += "<tr>";
    for (const std::string& cell : row)
      text.append("<").append(tag).append(">").append(escaped(cell)).append("</").append(tag).append(">");
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string as_table(std::span<const KernelSummary> kernels) {
  std::string text = kernels.empty() ? "softgpu: the profile is empty: no kernel ran\n" : "";
  for (const KernelSummary& kernel : kernels) {
    text += std::string("softgpu: profile of ") + heading_of(kernel) + "\n" + text_of(totals_table(kernel));
    if (!kernel.accesses.empty()) text += text_of(access_table(kernel));
    if (!kernel.lines.empty()) text += text_of(line_table(kernel));
  }
  return text;
}

std::string as_json(std::span<const KernelSummary> kernels) {
  const std::vector<KernelSummary> rows(kernels.begin(), kernels.end());
  return "{\"kernels\":" + array_of(rows, [](const KernelSummary& kernel) { return json_of(kernel); }) + "}\n";
}

std::string as_page(std::span<const KernelSummary> kernels) {
  std::string text = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
                     "content=\"width=device-width\"><title>Profile of the soft GPU</title><style>" +
                     std::string(style) +
                     "</style></head><body>\n<h1>Profile of the soft GPU</h1>\n<p class=\"note\">" + std::string(note) +
                     "</p>\n";
  if (kernels.empty()) text += "<p>No kernel ran.</p>\n";
  for (const KernelSummary& kernel : kernels) {
    text += std::string("<section><h2>") + escaped(heading_of(kernel)) + "</h2>\n" + html_of(totals_table(kernel));
    if (!kernel.accesses.empty()) text += html_of(access_table(kernel));
    if (!kernel.lines.empty()) text += html_of(line_table(kernel));
    text += "</section>\n";
  }
  return text + "</body></html>\n";
}

}  // namespace softgpu::compute::profile
