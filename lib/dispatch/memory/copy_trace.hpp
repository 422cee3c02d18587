// Copies in a trace: when the device made them.
#pragma once

#include <chrono>
#include <optional>

#include <hsa/hsa.h>

#include "dispatch/trace/device_clock.hpp"
#include "dispatch/trace/trace_session.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/memory_view.hpp"

namespace fastdispatch::detail {

/// Lets HSA write down when copies run, for those that are started later. Cheap if `agent` has done so.
void enable_copy_times(Agent agent) noexcept;

struct CopyTime {
  std::chrono::steady_clock::time_point begin;
  std::chrono::steady_clock::time_point end;
};

/// When the completed copy ran that had the completion signal `done`; none if HSA does not know.
[[nodiscard]] std::optional<CopyTime> time_of_copy(Agent agent, hsa_signal_t done, const DeviceClock& clock);

/// "copy host to device", with the bytes and the buffers' names.
[[nodiscard]] TraceEvent copy_event(const Track& track, const MemoryView& destination, const MemoryView& source,
                                    TraceTime begin, TraceTime end);

/// Puts a copy that the host waited for into the trace.
void trace_copy(Agent agent, hsa_signal_t done, const MemoryView& destination, const MemoryView& source) noexcept;

}  // namespace fastdispatch::detail
