#include "instruction_counts.hpp"

#include "peer_process.hpp"

#include <array>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <stdexcept>

namespace {

struct Case {
  const char* text;
  const char* name;
};

constexpr std::array cases = {
    Case{"batch of 1, replayed", "replay-1"},
    Case{"batch of 16, replayed", "replay-16"},
    Case{"batch of 120, replayed", "replay-120"},
    Case{"batch of 120, several producers allowed", "replay-120-multiple-producers"},
    Case{"batch of 120, a parameter in each", "parameters-120"},
    Case{"batch of 120, recorded anew", "recorded-anew-120"},
    Case{"one at a time, Queue::dispatch", "dispatch"},
    Case{"the same, several producers allowed", "dispatch-multiple-producers"},
};

// The reason why nothing is counted; null if instructions are counted.
const char* obstacle() {
  if (!SUBMIT_PATH_RUNS_UNDER_VALGRIND) return "this build has sanitizers, which valgrind does not run";
  const bool installed = std::system("command -v valgrind >/dev/null") == 0;
  return installed ? nullptr : "valgrind is not installed (Debian: valgrind)";
}

}  // namespace

nlohmann::ordered_json count_instructions() {
  std::cout << "\nInstructions a packet on the submit path, counted by callgrind\n";
  if (const char* const reason = obstacle()) {
    std::cout << "  not counted: " << reason << "\n";
    return nullptr;
  }
  const auto counted = output_of("'" COUNT_INSTRUCTIONS "' '" SUBMIT_PATH "'");
  if (!counted) throw std::runtime_error("count_instructions failed");
  nlohmann::ordered_json counts;
  for (const auto& [text, name] : cases) {
    const double instructions = counted->at(name);
    std::cout << "  " << std::left << std::setw(44) << text << std::right << std::setprecision(1) << std::setw(12)
              << instructions << "\n";
    counts[name] = instructions;
  }
  return counts;
}
