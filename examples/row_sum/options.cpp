#include "options.hpp"

#include "matrix_source.hpp"

namespace {

constexpr const char* data = "What is added up";

}  // namespace

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Adds up each row of a matrix of floats on the GPU: in passes through the host, in two launches through LDS, "
      "with "
      "a work-group a row, and with a wavefront a row, which reads several kinds of memory; beside the CPU, with and "
      "without the copies.",
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
  return options;
}
