#include "softgpu/command_processor/signals.hpp"

#include <cstddef>
#include <sstream>

#include "softgpu/compute/run_time/fault_guard.hpp"

namespace softgpu::command_processor {
namespace {

/// Where a signal's interrupt goes. Read before the value changes: a thread that waits for the change may free the
/// signal.
struct Interrupt {
  explicit Interrupt(const amd_signal_t& signal) : mailbox(signal.event_mailbox_ptr), event(signal.event_id) {}

  void raise(Host& host) const {
    if (mailbox == 0) return;
    __atomic_store_n(at_address<std::uint64_t>(mailbox), std::uint64_t{event}, __ATOMIC_RELEASE);
    host.raise_event(event);
  }

  std::uint64_t mailbox;
  std::uint32_t event;
};

}  // namespace

std::optional<compute::Failure> check_signal(hsa_signal_t signal, SignalAccess access) {
  if (signal.handle == 0) return std::nullopt;
  const auto failure = [&](std::uint64_t address, const char* what) {
    std::ostringstream text;
    text << "the packet's signal 0x" << std::hex << signal.handle << what;
    return compute::Failure{compute::Failure::Kind::memory_fault, address, text.str()};
  };
  if (signal.handle % alignof(amd_signal_t) != 0) return failure(signal.handle, " is none: it is not aligned as one");
  const std::uint64_t value = signal.handle + offsetof(amd_signal_t, value);
  compute::FaultGuard guard;
  const auto exit = guard.run([&] {
    if (access == SignalAccess::load) {
      static_cast<void>(load_device(value));
      return;
    }
    add_device(value, 0);
    const std::uint64_t mailbox = load_wide_device(signal.handle + offsetof(amd_signal_t, event_mailbox_ptr));
    if (mailbox != 0) add_device(mailbox, 0);
  });
  if (!exit) return std::nullopt;
  const bool tells_address = exit->cause == compute::EarlyExit::Cause::memory_fault;
  const bool is_read_only = tells_address && exit->refusal == compute::Refusal::read_only;
  compute::Failure fault = failure(tells_address ? exit->address : signal.handle,
                                   is_read_only ? " or its mailbox is in memory that may not be written"
                                                : " or its mailbox is not in memory");
  fault.is_read_only = is_read_only;
  return fault;
}

std::int64_t load_signal(hsa_signal_t signal) noexcept {
  return __atomic_load_n(&amd_signal(signal)->value, __ATOMIC_ACQUIRE);
}

void store_signal(hsa_signal_t signal, std::int64_t value, Host& host) {
  amd_signal_t* target = amd_signal(signal);
  const Interrupt interrupt(*target);
  __atomic_store_n(&target->value, value, __ATOMIC_RELEASE);
  interrupt.raise(host);
}

void complete_signal(hsa_signal_t signal, const Timestamps* times, Host& host) {
  if (signal.handle == 0) return;
  amd_signal_t* target = amd_signal(signal);
  if (times != nullptr) {
    target->start_ts = times->start;
    target->end_ts = times->end;
  }
  const Interrupt interrupt(*target);
  __atomic_fetch_sub(&target->value, 1, __ATOMIC_ACQ_REL);
  interrupt.raise(host);
}

bool is_met(std::int64_t value, hsa_signal_condition32_t condition, std::int64_t reference, Numbers numbers) noexcept {
  const bool is_less = numbers == Numbers::with_sign
                           ? value < reference
                           : static_cast<std::uint64_t>(value) < static_cast<std::uint64_t>(reference);
  switch (condition) {
  case HSA_SIGNAL_CONDITION_EQ:
    return value == reference;
  case HSA_SIGNAL_CONDITION_NE:
    return value != reference;
  case HSA_SIGNAL_CONDITION_LT:
    return is_less;
  case HSA_SIGNAL_CONDITION_GTE:
    return !is_less;
  default:
    return false;
  }
}

}  // namespace softgpu::command_processor
