// Programs on the soft GPU, beside the host.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace random_programs {

/// A compiled program: a line of the list that `execute` reads, with spaces between the members.
struct Compiled {
  unsigned kernels = 0;
  std::filesystem::path host{};         // a shared library
  std::filesystem::path code_object{};  // of every architecture
  std::filesystem::path expected{};     // where to write the host's results when the GPU's differ
};

/// The first word of the lines that `execute` writes.
namespace report {
inline constexpr std::string_view begin = "begin";          // INDEX of the program in the list
inline constexpr std::string_view equal = "equal";          // KERNEL LAUNCHES
inline constexpr std::string_view different = "different";  // KERNEL text
inline constexpr std::string_view refused = "refused";      // KERNEL text
}  // namespace report

/// Executes the programs that the file `list` names and writes the result of each kernel to standard output. The soft
/// GPU writes why it refuses one to standard error.
void execute(const std::filesystem::path& list);

}  // namespace random_programs
