#include "dispatch/device/failure_messages.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

#include "fastdispatch/detail/check.hpp"

namespace fastdispatch::detail {

namespace {

// The command processor's meaning of the statuses that ROCr passes to a queue's callback.
std::string_view cause(hsa_status_t status) {
  switch (static_cast<int>(status)) {
  case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
    return "the dispatch has a wrong number of dimensions or an empty grid";
  case HSA_STATUS_ERROR_INVALID_ALLOCATION:
    return "a work-group asks for more LDS than the agent has: check the kernel's static and the grid's dynamic LDS";
  case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
    return "the kernel object of a dispatch is no kernel that the agent can run: is its Module still alive?";
  case HSA_STATUS_ERROR_INVALID_PACKET_FORMAT:
    return "a packet's header has an unknown type or a reserved field is set";
  case HSA_STATUS_ERROR_INVALID_ARGUMENT:
    return "a work-group has more work-items than the agent allows: check the grid's group";
  case HSA_STATUS_ERROR_INVALID_ISA:
    return "the kernel needs more registers than the agent has";
  case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
    return "no scratch memory is left for the kernel's private segment";
  case HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION:
    return "the kernel overran its private memory, the stack of a work-item (recursion that is too deep, or an index "
           "beyond an array), or accessed an address outside of what the agent can reach";
  case HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION:
    return "the kernel has an instruction that the agent does not support: was it built for another ISA?";
  case HSA_STATUS_ERROR_MEMORY_FAULT:
    return "the kernel accessed memory that is not mapped for the agent";
  case HSA_STATUS_ERROR_EXCEPTION:
    return "the kernel trapped: a failed assertion, abort, or an arithmetic exception; the soft GPU also ends kernels "
           "after SOFTGPU_TIMEOUT, and standard error says which it was";
  default:
    return advice(status);
  }
}

std::string reasons(std::uint32_t mask) {
  static constexpr std::pair<std::uint32_t, const char*> names[] = {
      {HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT, "no page is mapped there"},
      {HSA_AMD_MEMORY_FAULT_READ_ONLY, "the page is read-only"},
      {HSA_AMD_MEMORY_FAULT_NX, "the page is not executable"},
      {HSA_AMD_MEMORY_FAULT_HOST_ONLY, "the page is the host's alone"},
      {HSA_AMD_MEMORY_FAULT_DRAMECC, "memory has an uncorrectable error"},
      {HSA_AMD_MEMORY_FAULT_IMPRECISE, "the exact address is not known"},
      {HSA_AMD_MEMORY_FAULT_SRAMECC, "registers or caches have an uncorrectable error"},
      {static_cast<std::uint32_t>(HSA_AMD_MEMORY_FAULT_HANG), "the GPU hung and was reset"},
  };
  std::vector<std::string_view> set;
  for (const auto& [bit, name] : names)
    if ((mask & bit) != 0) set.emplace_back(name);
  return set.empty() ? "the reason is not known" : fmt::format("{}", fmt::join(set, ", "));
}

// What to look for, by what the driver says of the page.
std::string_view advice_for_fault(std::uint32_t mask) {
  if ((mask & HSA_AMD_MEMORY_FAULT_READ_ONLY) != 0)
    return "does the kernel write to a buffer of constants, to code, or to a file that was mapped for reading?";
  if ((mask & HSA_AMD_MEMORY_FAULT_NX) != 0) return "did the kernel call a function by a wrong pointer?";
  return "is the buffer still alive, large enough, and pinned or the agent's own?";
}

}  // namespace

std::string blame(std::span<const std::string> suspects) {
  if (suspects.empty()) return "no kernel known to the library was running";
  if (suspects.size() == 1) return fmt::format("kernel {}", suspects.front());
  return fmt::format("one of the kernels that were running: {}", fmt::join(suspects, ", "));
}

Error queue_error(const HsaApi& api, hsa_status_t status, std::span<const std::string> suspects) {
  std::string message = fmt::format("the queue stopped: {}; {}", status_text(api, status), blame(suspects));
  if (const std::string_view hint = cause(status); !hint.empty()) message += fmt::format(" ({})", hint);
  return {ErrorKind::queue_failed, status, "queue", message};
}

Error memory_fault_error(const hsa_amd_gpu_memory_fault_info_t& fault, const std::string& agent_name,
                         const Buffers& buffers, std::span<const std::string> suspects) {
  const bool is_imprecise = (fault.fault_reason_mask & HSA_AMD_MEMORY_FAULT_IMPRECISE) != 0;
  std::string where = is_imprecise && fault.virtual_address == 0 ? "an address that the GPU does not tell"
                                                                 : fmt::format("address {:#x}", fault.virtual_address);
  if (const std::string place = buffers.place_of(fault.virtual_address); !place.empty()) where += ", " + place;
  return {ErrorKind::queue_failed, static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_FAULT), "queue",
          fmt::format("memory fault on {} at {}: {}; {} ({})", agent_name, where, reasons(fault.fault_reason_mask),
                      blame(suspects), advice_for_fault(fault.fault_reason_mask))};
}

Error hardware_exception_error(std::uint32_t cause, const std::string& agent_name,
                               std::span<const std::string> suspects) {
  constexpr std::uint32_t hang = 1;
  constexpr std::uint32_t uncorrectable_error = 2;
  const char* why = (cause & uncorrectable_error) != 0 ? "memory or registers had an error that could not be corrected"
                    : (cause & hang) != 0              ? "the GPU hung"
                                                       : "the cause is not known";
  return {
      ErrorKind::queue_failed, HSA_STATUS_ERROR, "queue",
      fmt::format("{} was reset: {}; {} (its queues and what its memory held are lost: start the process again; the "
                  "kernel's log, dmesg, tells more)",
                  agent_name, why, blame(suspects))};
}

Error unknown_event_error(int kind, const std::string& agent_name, std::span<const std::string> suspects) {
  return {ErrorKind::queue_failed, HSA_STATUS_ERROR, "queue",
          fmt::format("the HSA runtime told of an event of kind {}, which this library does not know; the queues of {} "
                      "may have stopped; {}",
                      kind, agent_name, blame(suspects))};
}

std::string in_words(std::chrono::nanoseconds duration) {
  const double milliseconds = std::chrono::duration<double, std::milli>(duration).count();
  return fmt::format("{:.6g} ms", milliseconds);
}

}  // namespace fastdispatch::detail
