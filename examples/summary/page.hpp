// The page over the examples: HTML in one file that needs no network and has no script.
#pragma once

#include "report_file.hpp"

#include <iosfwd>
#include <vector>

/// The summary is that of the reports: its lines link to their parts of the page.
void write_page(std::ostream& page, const Table& summary, const std::vector<ReportFile>& reports);
