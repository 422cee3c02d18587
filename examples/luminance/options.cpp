#include "options.hpp"

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Computes the luma of an image (.299 red + .587 green + .114 blue) on the GPU: wide loads against narrow ones, "
      "pixels in several orders, and what becomes of a float3.",
      "luminance");
  add_image_options(line, options.image);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  return options;
}
