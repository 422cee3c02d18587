// What the soft GPU knows of a code object: how many of a kernel's wavefronts the GPU holds, and the instructions. A
// tool that was built without the soft GPU does not know it.
#pragma once

#include "document.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dispatch/code_object/kernel_metadata.hpp"

/// Whether the tool was built with the soft GPU.
[[nodiscard]] bool knows_machine_code();

/// The dispatch that an occupancy is for.
struct GroupShape {
  std::uint32_t work_items = 256;
  std::uint32_t dynamic_lds_bytes = 0;
};

/// Views the machine code of an ELF file, which outlives it.
class MachineCode {
public:
  /// `processor` is that of the file's target, such as gfx90a. Throws std::runtime_error when LLVM cannot read the
  /// file.
  MachineCode(std::span<const std::byte> elf, std::string_view processor);
  ~MachineCode();
  MachineCode(const MachineCode&) = delete;
  MachineCode& operator=(const MachineCode&) = delete;

  /// How many work-groups a compute unit holds at a time, how many wavefronts that are, and what limits them. A text
  /// that says why, where that is not known.
  [[nodiscard]] Document occupancy_of(const fastdispatch::detail::KernelMetadata& kernel,
                                      const GroupShape& group) const;

  /// The functions, or the kernel of this name alone, with their instructions in order: offsets in the file's memory,
  /// what branches go to, and source lines where the file has debug information.
  /// Throws std::runtime_error when the processor's instructions are not known.
  [[nodiscard]] Document disassembly(const std::optional<std::string>& kernel) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};
