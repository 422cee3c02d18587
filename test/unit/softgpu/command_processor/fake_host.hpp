// A host that remembers what the command processor told it.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <vector>

#include "softgpu/command_processor/host.hpp"

namespace softgpu::command_processor {

class FakeHost final : public Host {
public:
  void raise_event(std::uint32_t event_id) override {
    const std::lock_guard lock(mutex_);
    events_.push_back(event_id);
  }
  void kernel_interrupt(std::uint32_t data) override { raise_event(data); }
  [[nodiscard]] bool report_memory_fault(const MemoryFault& fault) override {
    const std::lock_guard lock(mutex_);
    if (!takes_faults) return false;
    faults_.push_back(fault);
    return true;
  }
  void report_error(std::string_view line) override {
    const std::lock_guard lock(mutex_);
    errors_.emplace_back(line);
  }
  [[nodiscard]] bool logs_packets() const override { return false; }
  void log_packet(std::string_view /*line*/) override {}

  [[nodiscard]] bool was_raised(std::uint32_t event_id) const {
    const std::lock_guard lock(mutex_);
    return std::find(events_.begin(), events_.end(), event_id) != events_.end();
  }
  [[nodiscard]] std::vector<MemoryFault> faults() const {
    const std::lock_guard lock(mutex_);
    return faults_;
  }
  [[nodiscard]] std::vector<std::string> errors() const {
    const std::lock_guard lock(mutex_);
    return errors_;
  }

  bool takes_faults = true;

private:
  mutable std::mutex mutex_;
  std::vector<std::uint32_t> events_;
  std::vector<MemoryFault> faults_;
  std::vector<std::string> errors_;
};

}  // namespace softgpu::command_processor
