// Programs that this one starts.
#pragma once

#include <string>
#include <vector>

namespace random_programs {

struct Outcome {
  int status = 0;      // as the shell has it: 128 + the signal's number where one ended the program
  std::string output;  // standard output and standard error
};

/// Runs a program, which is looked for in PATH, to its end. `environment`: NAME=VALUE, beside what this process has.
/// Throws std::system_error when it cannot be started.
///
/// Thread safety: may be called from any thread.
[[nodiscard]] Outcome run(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {});

}  // namespace random_programs
