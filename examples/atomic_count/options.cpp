#include "options.hpp"

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line("Lets many work-items increment few counters: with and without atomics, in memory and in LDS, each "
                   "for itself and together with its wavefront or work-group.",
                   "atomic_count");
  line.option("--work-items", &options.work_items, "How many; item i increments counter i % bins (100000)")
      .between(1, 1 << 30)
      .value_name("N")
      .group("What is counted");
  line.option("--bins", &options.bins, "How many counters; what LDS can't hold is counted in parts (10)")
      .between(1, 1 << 24)
      .value_name("N")
      .group("What is counted");
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  return options;
}
