// The source lines of a code object's instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace softgpu::compute {

/// A line of a source file, from 1.
struct SourceLine {
  std::string file;  ///< its path from the root, where the compiler wrote it down
  std::uint32_t number = 0;
};

/// Views the debug information of an ELF file, which outlives it. Empty for what is no ELF file.
class LineTable {
public:
  explicit LineTable(std::span<const std::byte> elf);
  ~LineTable();
  LineTable(const LineTable&) = delete;
  LineTable& operator=(const LineTable&) = delete;

  /// "saxpy.hip:12" of the instruction at `address` of the file, or "vector.h:30, inlined into saxpy.hip:12"; empty if
  /// nothing tells it, as where the kernel was compiled without `-g`.
  [[nodiscard]] std::string line_of(std::uint64_t address) const;
  /// Where to find the first line that line_of names.
  [[nodiscard]] std::optional<SourceLine> source_of(std::uint64_t address) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace softgpu::compute
