// The process's one soft GPU driver: its state between hsaKmtOpenKFD and hsaKmtCloseKFD.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/command_processor/command_processor.hpp"
#include "softgpu/command_processor/packet_trace.hpp"
#include "softgpu/thunk/buffer_objects.hpp"
#include "softgpu/thunk/environment.hpp"
#include "softgpu/thunk/events.hpp"
#include "softgpu/thunk/layouts.hpp"
#include "softgpu/thunk/memory.hpp"
#include "softgpu/thunk/svm_ranges.hpp"
#include "softgpu/thunk/topology.hpp"

namespace softgpu::thunk {

/// Passes the command processor's interrupts to the events, its words to standard error.
class EventHost final : public command_processor::Host {
public:
  EventHost(Events& events, LogLevel level, command_processor::PacketTrace* trace)
      : events_(events), level_(level), trace_(trace) {}

  void raise_event(std::uint32_t event_id) override;
  void kernel_interrupt(std::uint32_t data) override { events_.raise_signalled(data); }
  [[nodiscard]] bool report_memory_fault(const command_processor::MemoryFault& fault) override;
  void report_error(std::string_view line) override;
  [[nodiscard]] bool logs_packets() const override { return level_ == LogLevel::packets; }
  void log_packet(std::string_view line) override;
  [[nodiscard]] command_processor::PacketTrace* trace() const override { return trace_; }

private:
  Events& events_;
  LogLevel level_;
  command_processor::PacketTrace* trace_;
};

/// The state of the opened driver.
struct SoftGpu {
  /// `trace` is null or outlives it.
  SoftGpu(const Environment& environment, command_processor::PacketTrace* trace);

  Layouts layouts = Layouts::of_5;  ///< of the ROCr that opened it
  Topology topology;
  Events events;
  EventHost host;
  compute::L2Caches l2s;  ///< of all GPUs, whose work-groups run on the same workers
  Memory memory;
  BufferObjects buffer_objects{memory};
  SvmRanges svm_ranges{memory, topology.node_count()};
  command_processor::CommandProcessor command_processor;
};

/// Opens the driver, or counts one more user. False, with a line on standard error, when the environment is wrong.
[[nodiscard]] bool open();
/// The last user's close ends the workers.
[[nodiscard]] bool close();
/// Null when closed, and in a child process after fork: the workers did not follow it.
[[nodiscard]] SoftGpu* soft_gpu() noexcept;
/// A function that needs the open driver was called without it: if a fork is the reason, says so once.
void refused_use();

}  // namespace softgpu::thunk
