// Which of a program's instructions a piece of host code belongs to: told by LLVM's line tables, with an instruction
// for a line.
//
// Translations that run have none. Where a kernel has failed its program is translated once more, with a line table;
// the same code comes out, or no instruction is told.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <llvm/IR/IRBuilder.h>

#include "softgpu/compute/program/program.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace llvm {
class DISubprogram;
class Function;
}  // namespace llvm

namespace softgpu::compute {

/// Writes down where the code of `function` comes from, while that is emitted.
class CodeLines {
public:
  CodeLines(llvm::Function& function, const Program& program);

  /// What `ir` emits from now on is of the instruction at `offset`.
  void begin_instruction(llvm::IRBuilder<>& ir, std::int64_t offset) const;
  /// Once everything is emitted. What is shared by several instructions is of none of them.
  void finish() const;

private:
  llvm::Function& function_;
  llvm::DISubprogram* scope_;
  std::int64_t first_;
};

/// The instruction of `program`, by its offset, that the code at `host_address` is of. `object` is the object file of a
/// translation with lines; `running` is the code that `host_address` is in. Empty if the two differ, or if the code is
/// of no instruction alone.
[[nodiscard]] std::optional<std::int64_t> instruction_at(const Program& program, std::string_view object,
                                                         const WaveCode& running, std::uint64_t host_address);

/// How many bytes the code of the function `name` has in an object file, which is aligned as memory is that was
/// allocated; 0 if there is none.
[[nodiscard]] std::uint64_t code_bytes(std::string_view object, std::string_view name);

}  // namespace softgpu::compute
