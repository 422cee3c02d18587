// fastdispatch-info: the agents that the library finds, and what it opened to find them.
#include "command_line.hpp"
#include "describe_system.hpp"
#include "run_program.hpp"

#include <fastdispatch/runtime.hpp>

#include <cstdlib>

int main(int argc, char** argv) {
  constexpr const char* program = "fastdispatch-info";
  bool as_json = false;
  CommandLine line("Prints the HSA runtime that was opened, the device below it and why, and all agents with their "
                   "queues and memory "
                   "pools, as HSA tells them. FASTDISPATCH_DEVICE=auto|amd|softgpu chooses the device.",
                   program);
  line.flag("--json", as_json, "Print it as JSON");
  line.parse_or_exit(argc, argv);
  return run_program(program, [&] {
    const fastdispatch::Runtime runtime;
    print_document(describe_system(runtime), as_json);
    return EXIT_SUCCESS;
  });
}
