// Events.
#include <span>

#include "softgpu/thunk/entry_points.hpp"
#include "softgpu/thunk/wait_for_events.hpp"

using softgpu::thunk::Reset;
using softgpu::thunk::SoftGpu;
using softgpu::thunk::wait_for_events;
using softgpu::thunk::WaitFor;
using softgpu::thunk::with_driver;

namespace {

HSAKMT_STATUS wait(std::span<HsaEvent* const> events, WaitFor mode, HSAuint32 milliseconds) {
  return with_driver([&](SoftGpu& gpu) {
    return wait_for_events(gpu, events, mode, milliseconds) ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_WAIT_TIMEOUT;
  });
}

}  // namespace

SOFTGPU_ENTRY hsaKmtCreateEvent(HsaEventDescriptor* descriptor, bool manual_reset, bool is_signaled, HsaEvent** event) {
  return with_driver([&](SoftGpu& gpu) {
    *event = gpu.events.create(*descriptor, manual_reset ? Reset::manual : Reset::automatic, is_signaled);
    return *event != nullptr ? HSAKMT_STATUS_SUCCESS : HSAKMT_STATUS_OUT_OF_RESOURCES;
  });
}

SOFTGPU_ENTRY hsaKmtDestroyEvent(HsaEvent* event) {
  if (event == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return with_driver([&](SoftGpu& gpu) {
    gpu.events.destroy(event);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtSetEvent(HsaEvent* event) {
  if (event == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return with_driver([&](SoftGpu& gpu) {
    gpu.events.raise(event);
    return HSAKMT_STATUS_SUCCESS;
  });
}

SOFTGPU_ENTRY hsaKmtWaitOnEvent(HsaEvent* event, HSAuint32 milliseconds) {
  if (event == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return wait(std::span(&event, 1), WaitFor::all, milliseconds);
}

SOFTGPU_ENTRY hsaKmtWaitOnMultipleEvents(HsaEvent** events, HSAuint32 count, bool all, HSAuint32 milliseconds) {
  if (events == nullptr) return HSAKMT_STATUS_INVALID_HANDLE;
  return wait(std::span(events, count), all ? WaitFor::all : WaitFor::any, milliseconds);
}
