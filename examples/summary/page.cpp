#include "page.hpp"

#include "page_style.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    switch (letter) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += letter;
    }
  }
  return result;
}

// As a shell takes the word.
std::string quoted(const std::string& word) {
  constexpr const char* plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+,-./:=@_";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  std::string result = "'";
  for (const char letter : word) result += letter == '\'' ? std::string("'\\''") : std::string(1, letter);
  return result + "'";
}

std::string in_one_line(const std::vector<std::string>& command) {
  std::string line;
  for (const std::string& word : command) {
    if (!line.empty()) line += ' ';
    line += quoted(word);
  }
  return line;
}

std::string id_of(std::size_t report) { return "report-" + std::to_string(report + 1); }

enum class FirstCells { plain, links_to_reports };

void write_table(std::ostream& page, const Table& table, FirstCells first_cells) {
  const std::string caption = escaped(table.caption);
  page << "<div class=\"scroll\" role=\"region\" aria-label=\"" << caption << "\" tabindex=\"0\">\n<table>\n<caption>"
       << caption << "</caption>\n<thead>\n";
  for (std::size_t i = 0; i < table.lines.size(); ++i) {
    const std::vector<std::string>& line = table.lines[i];
    page << "<tr>";
    for (std::size_t j = 0; j < line.size(); ++j) {
      const std::string cell = escaped(line[j]);
      if (i == 0) {
        page << "<th scope=\"col\">" << (!cell.empty() ? cell : j == 0 ? "variant" : "result") << "</th>";
      } else if (j > 0) {
        page << "<td>" << cell << "</td>";
      } else if (first_cells == FirstCells::plain) {
        page << "<th scope=\"row\">" << cell << "</th>";
      } else {
        page << "<th scope=\"row\"><a href=\"#" << id_of(i - 1) << "\">" << cell << "</a></th>";
      }
    }
    page << (i == 0 ? "</tr>\n</thead>\n<tbody>\n" : "</tr>\n");
  }
  page << "</tbody>\n</table>\n</div>\n";
  for (const std::string& note : table.notes) page << "<p class=\"note\">" << escaped(note) << "</p>\n";
}

// The values that the reports have in a member, each once: most often there is one.
void write_values(std::ostream& page, const char* name, const std::vector<ReportFile>& reports,
                  std::string ReportFile::*member) {
  std::vector<std::string> values;
  for (const ReportFile& report : reports) {
    const std::string& value = report.*member;
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  page << "<dt>" << name << "</dt>";
  for (const std::string& value : values) page << "<dd>" << escaped(value) << "</dd>";
  page << "\n";
}

void write_picture(std::ostream& page, const Picture& picture, const ReportFile& report) {
  const std::string file = escaped(picture.file);
  // An image that has the focus is shown in its full size.
  page << "<figure class=" << (picture.is_chart ? "\"chart\">\n<img" : "\"image\">\n<img tabindex=\"0\"") << " src=\""
       << picture.url << "\" alt=\"" << (picture.is_chart ? "Chart " : "Image ") << file << " of "
       << escaped(report.program) << ": " << escaped(report.problem) << "\">\n<figcaption>" << file
       << "</figcaption>\n</figure>\n";
}

void write_report(std::ostream& page, const ReportFile& report, const std::string& id) {
  page << "<section id=\"" << id << "\">\n<h2>" << escaped(report.program) << "</h2>\n<p>Measured on "
       << escaped(report.date) << " by this command:</p>\n<pre tabindex=\"0\"><code>"
       << escaped(in_one_line(report.command)) << "</code></pre>\n";
  write_table(page, report.table, FirstCells::plain);
  if (!report.pictures.empty()) {
    page << "<div class=\"pictures\">\n";
    for (const Picture& picture : report.pictures) write_picture(page, picture, report);
    page << "</div>\n";
  }
  page << "</section>\n";
}

}  // namespace

void write_page(std::ostream& page, const Table& summary, const std::vector<ReportFile>& reports) {
  page << R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>fastdispatch: the example programs</title>
<style>)"
       << page_style << R"(</style>
</head>
<body>
<header>
<h1>The example programs of fastdispatch</h1>
<p>Times are in microseconds: the median of the iterations, beside it the fastest one.</p>
<dl>
)";
  write_values(page, "Device", reports, &ReportFile::device);
  write_values(page, "Host", reports, &ReportFile::host);
  write_values(page, "HSA runtime", reports, &ReportFile::runtime);
  write_values(page, "fastdispatch", reports, &ReportFile::fastdispatch_version);
  page << "</dl>\n</header>\n<main>\n<section id=\"summary\">\n<h2>Summary</h2>\n";
  write_table(page, summary, FirstCells::links_to_reports);
  page << "</section>\n";
  for (std::size_t i = 0; i < reports.size(); ++i) write_report(page, reports[i], id_of(i));
  page << "</main>\n</body>\n</html>\n";
}
