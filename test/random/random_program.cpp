// Prints a random program: `random_program SEED [--kernels N]`.
#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include "program.hpp"

int main(int argc, char** argv) {
  std::uint64_t seed = 0;
  unsigned kernels = 4;
  CLI::App app("Prints a random program: HIP that compiles for a GPU and, as C++, for the host.", "random_program");
  app.add_option("SEED", seed, "Which program")->required();
  app.add_option("--kernels", kernels, "How many kernels it has (4)")->check(CLI::Range(1, 64));
  CLI11_PARSE(app, argc, argv);
  std::cout << random_programs::program(seed, kernels);
  return EXIT_SUCCESS;
}
