// The tool without the soft GPU.
#include "machine_code.hpp"

#include <stdexcept>

struct MachineCode::State {};

bool knows_machine_code() { return false; }

MachineCode::MachineCode(std::span<const std::byte> /*elf*/, std::string_view /*processor*/) {}
MachineCode::~MachineCode() = default;

Document MachineCode::occupancy_of(const fastdispatch::detail::KernelMetadata& /*kernel*/,
                                   const GroupShape& /*group*/) const {
  return "not known: this tool was built without the soft GPU (FASTDISPATCH_BUILD_SOFTGPU)";
}

Document MachineCode::disassembly(const std::optional<std::string>& /*kernel*/) const {
  throw std::runtime_error("this tool was built without the soft GPU (FASTDISPATCH_BUILD_SOFTGPU), whose decoder "
                           "--disassemble needs");
}
