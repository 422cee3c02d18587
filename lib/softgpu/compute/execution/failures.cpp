#include "softgpu/compute/execution/failures.hpp"

#include <sstream>
#include <string>

namespace softgpu::compute {
namespace {

Failure::Kind kind_of(EarlyExit::Cause cause) {
  switch (cause) {
  case EarlyExit::Cause::memory_fault:
  case EarlyExit::Cause::foreign_memory:
  case EarlyExit::Cause::impossible_address:
    return Failure::Kind::memory_fault;
  case EarlyExit::Cause::private_memory_overrun:
  case EarlyExit::Cause::split_private_atomic:
    return Failure::Kind::private_memory;
  case EarlyExit::Cause::unknown_mode:
  case EarlyExit::Cause::unknown_resource:
    return Failure::Kind::illegal_instruction;
  case EarlyExit::Cause::interrupted:
    return Failure::Kind::interrupted;
  case EarlyExit::Cause::trap:
  case EarlyExit::Cause::cancelled:
    break;
  }
  return Failure::Kind::trap;
}

std::string name_of(const WorkGroup& group) {
  std::ostringstream text;
  text << "work-group (" << group.id[0] << ", " << group.id[1] << ", " << group.id[2] << ')';
  return text.str();
}

/// What happened, up to the words for who did it.
std::string event_of(const EarlyExit& exit) {
  switch (exit.cause) {
  case EarlyExit::Cause::memory_fault:
  case EarlyExit::Cause::foreign_memory:
  case EarlyExit::Cause::impossible_address:
    return refusal_text(exit) + "; accessed";
  case EarlyExit::Cause::private_memory_overrun:
    return "a work-item overran its private memory (its stack), which has " + std::to_string(exit.private_bytes) +
           " bytes. Is a recursion too deep, or an index beyond its array? Compilers assume a size for functions that "
           "call themselves (LLVM: -mllvm -amdgpu-assume-external-call-stack-size=BYTES). Overrun";
  case EarlyExit::Cause::split_private_atomic:
    return "an atomic access of more than one dword of private memory (offset " + offset_from_entry(exit.address) +
           "), which lies in pieces; done";
  case EarlyExit::Cause::interrupted:
    return "ended, as it ran for longer than SOFTGPU_TIMEOUT says; executed";
  case EarlyExit::Cause::unknown_mode:
    return "at offset " + offset_from_entry(exit.instruction.value_or(0)) +
           ": MODE gets a value that no constant of the kernel leads to, executed";
  case EarlyExit::Cause::unknown_resource:
    return std::string(exit.resource) + " is not supported; accessed";
  case EarlyExit::Cause::trap:
  case EarlyExit::Cause::cancelled:
    break;
  }
  return "s_trap at offset " + offset_from_entry(exit.instruction.value_or(0)) + ", executed";
}

}  // namespace

std::string offset_from_entry(std::uint64_t offset) {
  std::ostringstream text;
  const bool is_before = static_cast<std::int64_t>(offset) < 0;
  text << (is_before ? "-0x" : "0x") << std::hex << (is_before ? 0 - offset : offset);
  return text.str();
}

Failure describe(const EarlyExit& exit, const WorkGroup& group, std::optional<std::uint32_t> wave) {
  std::string text = event_of(exit) + " by ";
  if (exit.cause == EarlyExit::Cause::private_memory_overrun || exit.cause == EarlyExit::Cause::split_private_atomic)
    text += "work-item " + std::to_string(wave.value_or(0) * group.lanes + exit.lane) + " of ";
  else if (wave && exit.cause != EarlyExit::Cause::interrupted)
    text += "wavefront " + std::to_string(*wave) + " of ";
  return {.kind = kind_of(exit.cause),
          .address = exit.address,
          .text = text + name_of(group),
          .is_imprecise = exit.cause == EarlyExit::Cause::impossible_address,
          .is_read_only = exit.cause == EarlyExit::Cause::memory_fault && exit.refusal == Refusal::read_only,
          .instruction = exit.instruction,
          .host_address = exit.host_address};
}

Failure out_of_memory(const WorkGroup& group) {
  return {Failure::Kind::host_memory, 0, "the host has no memory left for " + name_of(group)};
}

}  // namespace softgpu::compute
