// The source line of an instruction, for messages.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace softgpu::compute {

/// "saxpy.hip:12" of the instruction at `address`, or "vector.h:30, inlined into saxpy.hip:12"; empty if nothing tells
/// it, as where the kernel was compiled without `-g`.
///
/// The loader does not load line tables. ROCr has a list of what it loaded, for debuggers (`_amdgpu_r_debug`; LLVM's
/// AMDGPU usage guide, "Loaded Code Object Path Uniform Resource Identifier"), which tells the file or the memory that
/// a code object came from. Takes as long as reading that.
[[nodiscard]] std::string source_line(std::uint64_t address);

/// The same for many instructions of one code object, which is read once.
class SourceLines {
public:
  /// `address` is any in the code object.
  explicit SourceLines(std::uint64_t address);
  ~SourceLines();
  SourceLines(const SourceLines&) = delete;
  SourceLines& operator=(const SourceLines&) = delete;

  [[nodiscard]] std::string line_of(std::uint64_t address) const;

private:
  struct State;
  std::unique_ptr<State> state_;  ///< null: nothing tells the lines
};

}  // namespace softgpu::compute
