// Messages for a waiter when a queue failed or took too long.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include "dispatch/device/buffers.hpp"
#include "fastdispatch/detail/hsa_api.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

/// The Error for what HSA reported to a queue's callback; `suspects` are the kernels that may have caused it.
[[nodiscard]] Error queue_error(const HsaApi& api, hsa_status_t status, std::span<const std::string> suspects);

/// The Error for a memory fault, which HSA reports for a whole agent. `buffers` are the runtime's.
[[nodiscard]] Error memory_fault_error(const hsa_amd_gpu_memory_fault_info_t& fault, const std::string& agent_name,
                                       const Buffers& buffers, std::span<const std::string> suspects);

/// The Error for a reset of the agent; `cause` is hsa_amd_hw_exception_reset_cause_t.
[[nodiscard]] Error hardware_exception_error(std::uint32_t cause, const std::string& agent_name,
                                             std::span<const std::string> suspects);

/// The Error for an event of a kind that is newer than the library.
[[nodiscard]] Error unknown_event_error(int kind, const std::string& agent_name, std::span<const std::string> suspects);

/// "kernel sort", "one of the kernels that were running: sort, merge", or a text that says that no kernel is known.
[[nodiscard]] std::string blame(std::span<const std::string> suspects);

/// "250 ms"
[[nodiscard]] std::string in_words(std::chrono::nanoseconds duration);

}  // namespace fastdispatch::detail
