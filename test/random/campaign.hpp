// Many random programs.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "execution.hpp"
#include "options.hpp"

namespace random_programs {

/// Generates, compiles and executes the programs that the options ask for, in batches, each batch by processes of its
/// own. Owns the folder of all files.
class Campaign {
public:
  explicit Campaign(const Options& options);
  ~Campaign();
  Campaign(const Campaign&) = delete;
  Campaign& operator=(const Campaign&) = delete;

  /// Writes a line for each finding, and a summary. Returns whether there were no findings.
  bool run();

private:
  struct Program {
    std::uint64_t seed = 0;
    std::string level{};
    Compiled files{};
  };
  struct Device {
    std::string architecture;
    std::string cpu;
  };
  struct Counts {
    std::uint64_t programs = 0, kernels = 0, launches = 0, refused = 0, different = 0, not_compiled = 0, not_ended = 0;
  };

  void work();
  void run_batch(std::uint64_t first, std::uint64_t last);
  [[nodiscard]] std::vector<Program> compile(std::uint64_t seed);
  [[nodiscard]] bool compile(const Program& program, const std::vector<std::string>& command);
  void execute(std::vector<Program>& programs, const Device& device);
  [[nodiscard]] std::optional<std::size_t> take_report(const std::vector<Program>& programs, std::size_t first,
                                                       const Device& device, const std::string& output);
  void tell(const Program& program, const std::string& what);

  Options options_;
  std::filesystem::path folder_;
  std::atomic<std::uint64_t> next_{0};  // program, of all
  std::mutex mutex_;                    // of all that follows, and of standard output
  std::set<std::uint64_t> kept_;        // seeds of programs that were told of
  Counts counts_;
};

}  // namespace random_programs
