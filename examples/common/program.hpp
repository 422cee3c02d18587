// The common parts of the example programs: options, and the answer to too little memory.
#pragma once

#include "command_line.hpp"
#include "run_program.hpp"

#include <fastdispatch/batch.hpp>

#include <cstddef>
#include <filesystem>
#include <optional>

/// The options that every example has.
struct CommonOptions {
  std::size_t device = 0;
  std::size_t iterations = 1;
  std::optional<std::filesystem::path> json;
};

/// Adds --device, --iterations (default: what `options` holds) and --json to `line`.
/// Returns the option --iterations.
CommandLineOption add_common_options(CommandLine& line, CommonOptions& options);

/// Adds --fences conservative|minimal|derived, which sets `fences`: those of the program's batches. Returns the option.
CommandLineOption add_fences_option(CommandLine& line, fastdispatch::Fences& fences);

/// Adds --plot FILE.svg. Where `file` is set after the parsing, gnuplot is installed and the name ends in .svg.
void add_plot_option(CommandLine& line, std::optional<std::filesystem::path>& file);

/// Throws std::runtime_error when the machine has less than `bytes` of memory free. Linux grants more memory than there
/// is, and ends the program when it uses the memory.
void require_memory(std::size_t bytes);

/// a * b, for sizes from the command line. Throws std::runtime_error when it is more than a size_t holds.
[[nodiscard]] std::size_t checked_product(std::size_t a, std::size_t b);
