// The instructions of a code object, as the soft GPU decodes them. A tool that was built without the soft GPU does not
// know them.
#pragma once

#include "document.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// Whether the tool was built with the soft GPU.
[[nodiscard]] bool knows_machine_code();

/// Views the machine code of an ELF file, which outlives it.
class MachineCode {
public:
  /// `processor` is that of the file's target, such as gfx90a. Throws std::runtime_error when LLVM cannot read the
  /// file.
  MachineCode(std::span<const std::byte> elf, std::string_view processor);
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  /// The functions, or the kernel of this name alone, with their instructions in order: offsets in the file's memory,
  /// what branches go to, and source lines where the file has debug information, with their text where the source is
  /// found.
  /// Throws std::runtime_error when the processor's instructions are not known.
  [[nodiscard]] Document disassembly(const std::optional<std::string>& kernel) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};
