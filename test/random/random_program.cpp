// Prints a random program: `random_program SEED [--kernels N]`.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "command_line.hpp"
#include "program.hpp"
#include "standard_output.hpp"

int main(int argc, char** argv) {
  guard_standard_output("random_program");
  std::uint64_t seed = 0;
  unsigned kernels = 4;
  CommandLine line("Prints a random program: HIP that compiles for a GPU and, as C++, for the host.", "random_program");
  line.option("SEED", &seed, "Which program").required();
  line.option("--kernels", &kernels, "How many kernels it has (4)").between(1, 64);
  line.parse_or_exit(argc, argv);
  std::cout << random_programs::program(seed, kernels);
  return EXIT_SUCCESS;
}
