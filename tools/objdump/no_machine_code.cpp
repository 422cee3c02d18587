// The tool without the soft GPU.
#include "machine_code.hpp"

#include <stdexcept>

struct MachineCode::State {};

bool knows_machine_code() { return false; }

MachineCode::MachineCode(std::span<const std::byte> /*elf*/, std::string_view /*processor*/) {}
MachineCode::~MachineCode() = default;

Document MachineCode::disassembly(const std::optional<std::string>& /*kernel*/) const {
  throw std::runtime_error("this tool was built without the soft GPU (FASTDISPATCH_BUILD_SOFTGPU), whose decoder "
                           "--disassemble needs");
}
