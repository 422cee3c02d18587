#include "options.hpp"

#include <limits>
#include <string>

namespace {

constexpr std::size_t most_numbers = 1477;  // F(1476) is the last that a double holds

}  // namespace

Options parse_command_line(int argc, char** argv) {
  Options options;
  CommandLine line(
      "Writes the first Fibonacci numbers, again and again, from the GPU to memory that the host shares: without the "
      "writing, without the computation, through LDS, with a copy at the end, and with work-items that look ahead.",
      "fibonacci");
  constexpr const char* group = "What is computed";
  CommandLineOption work_items =
      line.option("--work-items", &options.work_items, "How many work-items look ahead, a power of two up to 1024 (8)")
          .between(1, most_work_items)
          .power_of_two()
          .value_name("N")
          .group(group);
  line.flag("--sweep", options.sweep, "Look ahead with 1, 2, 4 ... 1024 work-items")
      .excludes(work_items)
      .value_name(" ")
      .group(group);
  line.option("--count", &options.count, "How many numbers, up to 1477, the last that a double holds (1024)")
      .between(1, most_numbers)
      .value_name("N")
      .group(group);
  line.option("--repetitions", &options.repetitions, "How often, each time to another place (1024)")
      .between(1, std::numeric_limits<std::uint32_t>::max())
      .value_name("N")
      .group(group);
  line.option(
          "--destination",
          [&options](const std::string& name) {
            options.destination = name == "device" ? Destination::device : Destination::pinned;
          },
          "pinned: the host's memory; device: the GPU's, and a copy from there in a column of its own (pinned)")
      .one_of({"pinned", "device"})
      .value_name("NAME")
      .group(group);
  add_common_options(line, options.common);
  add_fences_option(line, options.fences);
  add_plot_option(line, options.plot);
  line.parse_or_exit(argc, argv);
  if (options.plot && !options.sweep) line.refuse("--plot draws the MB/s of a --sweep");
  return options;
}
