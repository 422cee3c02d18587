// What the command processor asks of the driver above it. The thunk is one; another runtime's device hook can be.
#pragma once

#include <cstdint>
#include <string_view>

#include "softgpu/compute/execution/engine.hpp"

namespace softgpu::command_processor {

class PacketTrace;

/// An access that the mapping does not allow.
struct MemoryFault {
  std::uint32_t gpu = 0;  ///< index of the GPU
  std::uint64_t address = 0;
  bool is_imprecise = false;  ///< the address is not known
  bool is_read_only = false;  ///< a write to memory that may only be read
};

/// Thread safety: every member is called from worker threads, several at once.
class Host : public compute::InterruptHandler {
public:
  /// The GPU's interrupt: wakes the threads that sleep on this event.
  virtual void raise_event(std::uint32_t event_id) = 0;
  /// False if no handler can be told; the queue then stops with an error of its own.
  [[nodiscard]] virtual bool report_memory_fault(const MemoryFault& fault) = 0;
  /// One line for a person: why a packet was refused or a queue stopped.
  virtual void report_error(std::string_view line) = 0;
  /// One line a packet, when `logs_packets`.
  [[nodiscard]] virtual bool logs_packets() const = 0;
  virtual void log_packet(std::string_view line) = 0;
  /// Where what the queues carry out is recorded; null if it is not. It does not change.
  [[nodiscard]] virtual PacketTrace* trace() const { return nullptr; }
};

}  // namespace softgpu::command_processor
