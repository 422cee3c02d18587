// The times of a workload's variants: a table for people, JSON for programs.
#pragma once

#include "output_file.hpp"
#include "table.hpp"

#include <fastdispatch/runtime.hpp>

#include <cstddef>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

/// A number of a row beside its time. Numbers with the same heading stand in one column.
struct Figure {
  std::string heading;  ///< of the column, such as "GB/s"; the key in the JSON
  double value = 0;
  std::string text;  ///< as the table prints it; see figure()
};

/// A figure printed with `digits` digits after the point, and with `suffix` behind it.
[[nodiscard]] Figure figure(std::string heading, double value, int digits = 2, const char* suffix = "");
/// A figure printed with two digits and an exponent: an error.
[[nodiscard]] Figure scientific_figure(std::string heading, double value);

/// One variant of the workload.
struct Row {
  std::string name;
  std::vector<double> microseconds;  ///< of each iteration; none where the row has no time
  std::vector<Figure> figures;
  bool correct = true;
  bool compares = false;        ///< no way to do the work on the GPU, but to compare with: the host's loop, a limit
  bool shows_an_error = false;  ///< the variant shows a wrong result on purpose: this is not a failure
  std::string remark;           ///< printed behind the verdict
};

struct Report {
  std::string program;
  std::string problem;  ///< the work in numbers, such as "4096 x 4096 floats"
  std::string gpu;
  std::string runtime;  ///< path of the HSA runtime
  bool softgpu = false;
  std::vector<Row> rows;
  std::string verdict = "correct";  ///< printed for a correct row
  /// What the table cannot show on a soft GPU, and why: "what fences buy: all memory is the host's"; empty: nothing.
  std::string beyond_softgpu{};
  std::string gpu_product{};  ///< the marketing name
  std::string host{};         ///< the host's processor and its threads
  std::string hsa_version{};  ///< of HSA, as the runtime tells it: "1.1"
};

/// A report without rows on the GPU that the program uses.
[[nodiscard]] Report report_on(std::string program, std::string problem, const fastdispatch::Runtime& runtime,
                               fastdispatch::Agent gpu);

[[nodiscard]] double median(std::vector<double> values);

/// "1 row", "2 rows".
[[nodiscard]] std::string counted(std::size_t number, const std::string& noun);

/// What was done, and on which device: the title of the table, and of charts.
[[nodiscard]] std::string title_of(const Report& report);

/// A time is the median of the iterations, beside it the fastest. A time whose iterations spread far is marked.
[[nodiscard]] Table table_of(const Report& report);

/// Prints the table.
void print_report(std::ostream& stream, const Report& report);

/// Prints the table, and writes the JSON where there is a file for it. The table goes to standard error if one of the
/// program's files is standard output.
void present(const Report& report, std::optional<OutputFile>& json, const std::optional<OutputFile>& output = {});

/// A document with the report's fields, and with the date and this process's command; of each row its name, the median
/// and the least time in microseconds, its figures by their headings and whether it is correct; and the table as it is
/// printed.
void write_json(OutputFile& file, const Report& report);

/// Throws std::runtime_error naming the first row whose result is wrong and should not be.
void require_correct(const Report& report);
