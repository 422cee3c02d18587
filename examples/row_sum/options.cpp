#include "options.hpp"

#include "matrix_source.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace {

constexpr const char* data = "What is added up";

// Nothing where the text is neither a name nor a number from 1 on.
std::optional<Column> parse_column(const std::string& text) {
  const bool is_name = text.find_first_not_of("0123456789") != std::string::npos;
  if (is_name) return text;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0) return std::nullopt;
  return number;
}

void add_columns(CommandLine& line, std::optional<TripsColumns>& columns) {
  const auto add = [&](const char* name, Column TripsColumns::*column, const char* description) {
    const auto receive = [&columns, column](const std::string& text) {
      if (!columns) columns.emplace();
      (*columns).*column = *parse_column(text);
    };
    const auto error = [](const std::string& text) {
      return parse_column(text) ? "" : "neither a column's name nor its number, from 1 on: '" + text + "'";
    };
    line.option(name, receive, description).check(error).value_name("COLUMN").group(data);
  };
  add("--origin-column", &TripsColumns::origin, "Of a .csv file with more columns: name in its header, or number (1)");
  add("--destination-column", &TripsColumns::destination, "Likewise (2)");
  add("--count-column", &TripsColumns::count, "Likewise (3)");
}

}  // namespace

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Adds up each row of a matrix of floats on the GPU: in passes through the host, in two launches through LDS, "
      "with a work-group a row, and with a wavefront a row, which reads several kinds of memory; beside the CPU, with "
      "and without the copies.",
      "row_sum");

  CommandLineOption random[] = {
      line.option("--rows", &options.rows, "Of a matrix of random numbers (4096)").between(1, most_rows),
      line.option("--columns", &options.columns, "Of a matrix of random numbers (as many as rows)")
          .between(1, most_rows),
      line.option("--seed", &options.seed, "Of the random numbers (1)"),
  };
  CommandLineOption input =
      line.option("--input", &options.input,
                  "Read the matrix: NumPy's format (.npy), or lines of origin, destination, count (.csv)")
          .value_name("FILE")
          .group(data);
  for (CommandLineOption& option : random) option.excludes(input).value_name("N").group(data);
  add_columns(line, options.trips_columns);
  CommandLineOption output =
      line.option("--output", &options.output, "Write the sums as text, one row a line; - is standard output")
          .value_name("FILE")
          .group(data);
  line.flag("--sweep", options.sweep, "The kernels with 256 x 256, 512 x 512 and so on up to --rows and --columns")
      .excludes(input)
      .excludes(output)
      .value_name(" ")  // or else the help lists what it excludes
      .group(data);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);

  line.parse_or_exit(argc, argv);
  if (!random[1].is_given()) options.columns = options.rows;
  if (options.trips_columns && !(options.input && options.input->extension() == ".csv")) {
    line.refuse("--origin-column, --destination-column and --count-column are for an --input that ends in .csv");
  }
  return options;
}
