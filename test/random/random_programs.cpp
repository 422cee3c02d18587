// Compiles random programs for the host and for GPUs, executes them on the host and on the soft GPU, and compares the
// results.

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <thread>

#include "campaign.hpp"
#include "command_line.hpp"
#include "execution.hpp"
#include "options.hpp"
#include "standard_output.hpp"

namespace {

namespace random = random_programs;

void add_options(CommandLine& line, random::Options& options) {
  line.option("--first", &options.first, "The first program's seed (1)");
  line.option("--count", &options.count, "How many programs, one a seed (100)");
  line.option("--kernels", &options.kernels, "Of a program (4)").between(1, 64);
  line.option("--arch", &options.architectures, "Architectures to compile for and to execute on (gfx90a)");
  line.option("--cpu", &options.cpus, "What the soft GPU may use of the host's CPU, as SOFTGPU_CPU has it (host)");
  line.option("--opt", &options.levels, "Optimization levels, of which a program's seed chooses one (O1,O2,O3,Os)")
      .delimiter(',');
  line.flag("--all-levels", options.all_levels, "Compile each program at every level");
  line.flag("--allow-refused", options.allow_refused, "Kernels that the soft GPU refuses are no failure");
  line.option("--hipcc", &options.device_compiler,
              "hipcc, or a clang that compiles HIP (" + options.device_compiler + ")");
  line.option("--host-cxx", &options.host_compiler, "A clang for the host (" + options.host_compiler + ")");
  line.option("--device-flag", &options.device_flags, "For hipcc, such as --device-flag=-mcode-object-version=4")
      .one_value_each();
  line.option("--jobs", &options.jobs, "Batches at a time (one a core)");
  line.option("--batch", &options.batch, "Programs that one process executes (25)").between(1, 10000);
  line.option("--keep", &options.folder, "Where programs that differ are kept (a temporary folder)");
  line.option("--execute", &options.execute, "Execute what a list names").hidden();
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("random_programs");
  random::Options options{.device_compiler = RANDOM_PROGRAMS_HIPCC, .host_compiler = RANDOM_PROGRAMS_CLANG};
  CommandLine line("Executes random programs on the soft GPU and on the host, and compares what they compute.",
                   "random_programs");
  add_options(line, options);
  line.parse_or_exit(argc, argv);
  if (options.jobs == 0) options.jobs = std::max(std::thread::hardware_concurrency(), 1U);
  try {
    if (!options.execute.empty()) {
      random::execute(options.execute);
      return EXIT_SUCCESS;
    }
    return random::Campaign(options).run() ? EXIT_SUCCESS : EXIT_FAILURE;
  } catch (const std::exception& error) {
    std::cerr << "random_programs: " << error.what() << "\n";
    return 2;
  }
}
