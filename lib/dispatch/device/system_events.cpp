#include "dispatch/device/system_events.hpp"

#include <cstdint>
#include <cstring>

#include "dispatch/device/failure_messages.hpp"
#include "dispatch/hsa/log.hpp"

namespace fastdispatch::detail {
namespace {

// Kinds and data of events as later releases of hsa_ext_amd.h have them (ROCr 6.2, hsa_amd_event_type_t).
constexpr int hardware_exception = 1;
constexpr int system_shutdown = 3;

struct HardwareException {
  hsa_agent_t agent;
  std::uint32_t reset_type;
  std::uint32_t reset_cause;
};

// The enumeration of an older header has not got the value of a newer kind.
std::int32_t kind_of(const hsa_amd_event_t& event) {
  std::int32_t kind = 0;
  static_assert(sizeof kind == sizeof event.event_type);
  std::memcpy(&kind, &event.event_type, sizeof kind);
  return kind;
}

// An event's data begin where those of a memory fault do.
template <class Data>
Data data_of(const hsa_amd_event_t& event) {
  static_assert(sizeof(Data) <= sizeof event.memory_fault);
  Data data;
  std::memcpy(&data, &event.memory_fault, sizeof data);
  return data;
}

AgentState* find(std::span<const std::unique_ptr<AgentState>> gpus, hsa_agent_t agent) {
  for (const auto& gpu : gpus)
    if (gpu->handle.handle == agent.handle) return gpu.get();
  return nullptr;
}

}  // namespace

bool is_shutdown(const hsa_amd_event_t& event) noexcept { return kind_of(event) == system_shutdown; }

bool take_system_event(const hsa_amd_event_t& event, std::span<const std::unique_ptr<AgentState>> gpus) {
  switch (const std::int32_t kind = kind_of(event)) {
  case HSA_AMD_GPU_MEMORY_FAULT_EVENT: {
    AgentState* gpu = find(gpus, event.memory_fault.agent);
    if (gpu == nullptr) return false;
    log().debug("memory fault on {} at {:#x}", gpu->properties.name, event.memory_fault.virtual_address);
    gpu->queues.fail_all([&](auto suspects) {
      return memory_fault_error(event.memory_fault, gpu->properties.name, gpu->host->buffers, suspects);
    });
    return true;
  }
  case hardware_exception: {
    const auto exception = data_of<HardwareException>(event);
    AgentState* gpu = find(gpus, exception.agent);
    if (gpu == nullptr) return false;
    gpu->queues.fail_all(
        [&](auto suspects) { return hardware_exception_error(exception.reset_cause, gpu->properties.name, suspects); });
    return true;
  }
  default:
    for (const auto& gpu : gpus)
      gpu->queues.fail_all([&](auto suspects) { return unknown_event_error(kind, gpu->properties.name, suspects); });
    return !gpus.empty();
  }
}

}  // namespace fastdispatch::detail
