#include "options.hpp"

#include "matrix_source.hpp"

#include <CLI/CLI.hpp>

Options parse_command_line(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Adds up each row of a matrix of floats on the GPU: in two launches through LDS, with a work-group a row, and "
      "with a wavefront a row; beside the CPU, with and without the copies.",
      "row_sum");

  constexpr const char* data = "What is added up";
  CLI::Option* const random[] = {
      app.add_option("--rows", options.rows, "Of a matrix of random numbers (4096)")
          ->check(CLI::Range(std::size_t{1}, most_rows)),
      app.add_option("--columns", options.columns, "Of a matrix of random numbers (as many as rows)")
          ->check(CLI::Range(std::size_t{1}, most_rows)),
      app.add_option("--seed", options.seed, "Of the random numbers (1)"),
  };
  auto* input = app.add_option("--input", options.input,
                               "Read the matrix: NumPy's format (.npy), or lines of origin, destination, count (.csv)")
                    ->option_text("FILE")
                    ->group(data);
  for (CLI::Option* option : random) option->excludes(input)->option_text("N")->group(data);
  app.add_option("--output", options.output, "Write the sums as text, one row a line")
      ->option_text("FILE")
      ->group(data);
  add_common_options(app, options.common);
  add_fences_option(app, options.fences);
  add_plot_option(app, options.plot);

  parse_or_exit(app, argc, argv);
  if (random[1]->count() == 0) options.columns = options.rows;
  return options;
}
