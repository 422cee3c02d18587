#include "options.hpp"

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Reads the same number of bytes from each level of the memory hierarchy: registers, LDS, the scalar cache, the "
      "L1 and L2 caches, the GPU's memory and the host's.",
      "memory_levels");
  line.option("--reads", &options.reads, "MiB that are read from each level (1024)")
      .between(1, 1U << 16U)
      .value_name("MIB")
      .group("What is read");
  line.option("--memory", &options.memory,
              "MiB of the GPU's memory and of the host's, a power of two, more than caches hold (256)")
      .between(1, 2048)
      .power_of_two()
      .value_name("MIB")
      .group("What is read");
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  return options;
}
