// Queues and events of the kernel's interface.
#include <cerrno>
#include <cstddef>
#include <span>
#include <vector>

#include <hsa/amd_hsa_queue.h>

#include "softgpu/command_processor/device_access.hpp"
#include "softgpu/kernel_interface/driver.hpp"
#include "softgpu/thunk/wait_for_events.hpp"

namespace softgpu::kernel_interface {
namespace {

using command_processor::at_address;

/// The kernel gets the two indices only, but they lie in AMD's queue structure.
amd_queue_t* queue_of(std::uint64_t read_index) {
  return at_address<amd_queue_t>(read_index - offsetof(amd_queue_t, read_dispatch_id));
}

}  // namespace

int Driver::create_queue(abi::CreateQueue& args) {
  const auto node = node_of(args.gpu_id);
  if (!node) return EINVAL;
  const std::uint32_t index = *node - 1;
  auto* ring = at_address<std::byte>(args.ring);
  const std::lock_guard lock(mutex_);
  std::uint64_t* doorbell = file_.take_doorbell(index);
  if (doorbell == nullptr) return ENOSPC;
  command_processor::QueueHandle queue;
  switch (args.type) {
  case abi::aql_queue:
    queue = gpu_.command_processor.create(command_processor::AqlQueueMemory{.gpu = index,
                                                                            .ring = ring,
                                                                            .ring_bytes = args.ring_bytes,
                                                                            .queue = queue_of(args.read_index),
                                                                            .doorbell = doorbell});
    break;
  case abi::sdma_queue:
  case abi::sdma_xgmi_queue:
  case abi::sdma_queue_by_engine:
    queue = gpu_.command_processor.create(
        command_processor::SdmaQueueMemory{.gpu = index,
                                           .ring = ring,
                                           .ring_bytes = args.ring_bytes,
                                           .doorbell = doorbell,
                                           .read_index = at_address<std::uint64_t>(args.read_index),
                                           .write_index = at_address<std::uint64_t>(args.write_index)});
    break;
  default:  // PM4
    file_.give_back(doorbell);
    return EINVAL;
  }
  args.queue_id = static_cast<std::uint32_t>(queue.id);
  args.doorbell_offset = file_.offset_of(doorbell);
  doorbells_[args.queue_id] = doorbell;
  return 0;
}

int Driver::destroy_queue(std::uint32_t id) {
  if (!gpu_.command_processor.destroy(id)) return EINVAL;
  const std::lock_guard lock(mutex_);
  const auto found = doorbells_.find(id);
  file_.give_back(found->second);
  doorbells_.erase(found);
  return 0;
}

int Driver::set_compute_units(const abi::CuMask& args) {
  if (args.bits == 0 || args.bits % 32 != 0 || args.words == 0) return EINVAL;
  const std::span mask(at_address<const std::uint32_t>(args.words), args.bits / 32);
  return gpu_.command_processor.enable_compute_units(args.queue_id, mask) ? 0 : EINVAL;
}

int Driver::create_event(abi::CreateEvent& args) {
  // The first event's caller brings the page that kernels write when they raise one.
  if (args.page != 0) {
    auto* page = static_cast<std::uint64_t*>(memory_.address_of(args.page));
    if (page == nullptr) return EINVAL;
    gpu_.events.use_mailboxes({page, abi::most_events});
  }
  HsaEventDescriptor descriptor{};
  descriptor.EventType = static_cast<HSA_EVENTTYPE>(args.type);
  descriptor.NodeId = args.node;
  const HsaEvent* event =
      gpu_.events.create(descriptor, args.is_automatic != 0 ? thunk::Reset::automatic : thunk::Reset::manual, false);
  if (event == nullptr) return ENOSPC;
  constexpr std::uint64_t some_page = 1;  // not 0: the event has a place there
  args.page = some_page;
  args.id = args.trigger = args.slot = event->EventId;
  return 0;
}

int Driver::with_event(std::uint32_t id, void (thunk::Events::*what)(HsaEvent*)) {
  HsaEvent* event = gpu_.events.find(id);
  if (event == nullptr) return EINVAL;
  (gpu_.events.*what)(event);
  return 0;
}

int Driver::wait(abi::WaitEvents& args) {
  const std::span data(at_address<abi::EventData>(args.events), args.count);
  std::vector<HsaEvent*> events;
  for (const abi::EventData& each : data) {
    events.push_back(gpu_.events.find(each.id));
    if (events.back() == nullptr) return EINVAL;
  }
  const bool met = thunk::wait_for_events(gpu_, events, args.for_all != 0 ? thunk::WaitFor::all : thunk::WaitFor::any,
                                          args.milliseconds);
  args.result = met ? abi::wait_complete : abi::wait_timed_out;
  if (!met) return 0;
  for (std::size_t i = 0; i != data.size(); ++i) {
    if (events[i]->EventData.EventType != HSA_EVENTTYPE_MEMORY) continue;
    const HsaMemoryAccessFault fault = gpu_.events.memory_fault(events[i]);
    data[i].exception = {};
    if (fault.NodeId == 0) continue;  // none yet
    data[i].exception = {.not_present = fault.Failure.NotPresent,
                         .read_only = fault.Failure.ReadOnly,
                         .no_execute = fault.Failure.NoExecute,
                         .imprecise = fault.Failure.Imprecise,
                         .address = fault.VirtualAddress,
                         .gpu_id = thunk::Topology::gpu_id(fault.NodeId),
                         .error_type = 0};
  }
  return 0;
}

}  // namespace softgpu::kernel_interface
