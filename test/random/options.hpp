// The user's options.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace random_programs {

struct Options {
  std::uint64_t first = 1;  // seed
  std::uint64_t count = 100;
  unsigned kernels = 4;  // of a program
  unsigned jobs = 0;     // 0: as many as cores
  unsigned batch = 25;   // programs that a process executes
  std::vector<std::string> architectures = {"gfx90a"};
  std::vector<std::string> cpus = {"host"};
  std::vector<std::string> levels = {"O1", "O2", "O3", "Os"};
  bool all_levels = false;     // else each program is compiled at one of them
  bool allow_refused = false;  // a kernel that the soft GPU refuses is no failure
  std::string device_compiler{};
  std::string host_compiler{};
  std::vector<std::string> device_flags{};
  std::filesystem::path folder{};   // for what differs; empty: a temporary one
  std::filesystem::path execute{};  // a list of programs to execute, the coordinator's
};

}  // namespace random_programs
