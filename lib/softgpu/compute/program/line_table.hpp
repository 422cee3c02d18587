// The source lines of a code object's instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace softgpu::compute {

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

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace softgpu::compute
