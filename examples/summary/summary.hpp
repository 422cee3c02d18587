// What the reports of several examples have in common, in one table.
#pragma once

#include "report_file.hpp"

#include <string>
#include <vector>

/// Has a line for each report, with its program first: the problem, the fastest variant on the GPU, the median time of
/// that variant, and how many results are right. A row that only compares, or is wrong, is never the fastest.
[[nodiscard]] Table summary_of(const std::vector<ReportFile>& reports);

/// Whether every result is right, or wrong on purpose.
[[nodiscard]] bool is_right(const ReportFile& report);
