// Making an HSA queue: checks before, settings after, and where its errors go.
#include <algorithm>
#include <bit>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/hsa/log.hpp"
#include "dispatch/queue/packet_queue.hpp"
#include "fastdispatch/detail/check.hpp"

namespace fastdispatch::detail {

namespace {

void check_size(const AgentProperties& limits, std::uint32_t size) {
  if (!std::has_single_bit(size) || size < limits.queue_size_min || size > limits.queue_size_max)
    throw Error(HSA_STATUS_ERROR_INVALID_ARGUMENT, {},
                fmt::format("a queue of {} packets: the size must be a power of two from {} to {} on {}", size,
                            limits.queue_size_min, limits.queue_size_max, limits.name));
}

void set_priority(const HsaApi& api, hsa_queue_t* queue, Priority priority) {
  if (priority == Priority::normal) return;
  const auto level = priority == Priority::high ? HSA_AMD_QUEUE_PRIORITY_HIGH : HSA_AMD_QUEUE_PRIORITY_LOW;
  check(api, api.amd_queue_set_priority(queue, level), "hsa_amd_queue_set_priority", "setting a queue's priority");
}

void check_mask(const AgentProperties& limits, const std::vector<std::uint32_t>& mask) {
  if (mask.empty()) return;
  if (std::all_of(mask.begin(), mask.end(), [](std::uint32_t word) { return word == 0; }))
    throw Error("a queue's compute_unit_mask allows no compute unit");
  if (mask.size() > (limits.compute_units + 31) / 32)
    throw Error(fmt::format("a queue's compute_unit_mask has {} words of 32 units; {} has {} compute units",
                            mask.size(), limits.name, limits.compute_units));
}

void set_mask(const HsaApi& api, hsa_queue_t* queue, const std::vector<std::uint32_t>& mask) {
  if (mask.empty()) return;
  const hsa_status_t status =
      api.amd_queue_cu_set_mask(queue, static_cast<std::uint32_t>(mask.size() * 32), mask.data());
  // The process may be confined to some compute units (HSA_CU_MASK): the rest of the mask holds.
  if (static_cast<int>(status) == HSA_STATUS_CU_MASK_REDUCED) return;
  check(api, status, "hsa_amd_queue_cu_set_mask", "setting a queue's compute units");
}

}  // namespace

QueueHandle PacketQueue::create(const QueueOptions& options) {
  const HsaApi& api = agent_.api();
  check_size(agent_.properties(), options.size);
  check_mask(agent_.properties(), options.compute_unit_mask);

  const auto on_error = [](hsa_status_t status, hsa_queue_t*, void* state) noexcept {
    static_cast<PacketQueue*>(state)->fail(status);
  };
  constexpr std::uint32_t no_hint = UINT32_MAX;  // of the kernels' private and group segments
  hsa_queue_t* queue = nullptr;
  check(api,
        api.queue_create(agent_.handle(), options.size,
                         options.producers == Producers::single ? HSA_QUEUE_TYPE_SINGLE : HSA_QUEUE_TYPE_MULTI,
                         on_error, this, no_hint, no_hint, &queue),
        "hsa_queue_create",
        [&] { return fmt::format("making a queue of {} packets on {}", options.size, agent_.name()); });
  QueueHandle owner(queue, QueueDeleter{&api});
  set_priority(api, queue, options.priority);
  set_mask(api, queue, options.compute_unit_mask);
  return owner;
}

void PacketQueue::enable_profiling() {
  if (profiles_.load(std::memory_order_relaxed)) return;
  const HsaApi& api = agent_.api();
  check(api, api.amd_profiling_set_profiler_enabled(queue_.get(), 1), "hsa_amd_profiling_set_profiler_enabled",
        "switching a queue's profiling on");
  profiles_.store(true, std::memory_order_relaxed);
}

bool PacketQueue::try_enable_profiling() noexcept {
  if (cannot_profile_.load(std::memory_order_relaxed)) return false;
  try {
    enable_profiling();
    return true;
  } catch (const Error& error) {
    cannot_profile_.store(true, std::memory_order_relaxed);
    log().debug("queue {} has no times in the trace: {}", id(), error.what());
    return false;
  }
}

}  // namespace fastdispatch::detail
