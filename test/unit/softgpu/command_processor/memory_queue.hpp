// An AQL queue in plain memory, as a runtime would make it, and signals to go with it.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include "fake_grids.hpp"
#include "fake_host.hpp"
#include "softgpu/command_processor/aql_queue.hpp"
#include "softgpu/command_processor/packets.hpp"
#include "softgpu/command_processor/scheduler.hpp"

namespace softgpu::command_processor {

/// True once `condition` holds; false when it does not within a time that no healthy machine needs.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

class Signal {
public:
  explicit Signal(std::int64_t value = 1) {
    signal_.kind = AMD_SIGNAL_KIND_USER;
    signal_.value = value;
  }

  [[nodiscard]] hsa_signal_t handle() const { return {reinterpret_cast<std::uint64_t>(&signal_)}; }
  [[nodiscard]] std::int64_t load() const { return __atomic_load_n(&signal_.value, __ATOMIC_ACQUIRE); }
  void store(std::int64_t value) { __atomic_store_n(&signal_.value, value, __ATOMIC_RELEASE); }
  [[nodiscard]] bool reaches(std::int64_t value) const {
    return eventually([&] { return load() == value; });
  }
  [[nodiscard]] amd_signal_t& raw() { return signal_; }

private:
  amd_signal_t signal_{};
};

inline constexpr std::uint16_t barrier_bit = 1U << HSA_PACKET_HEADER_BARRIER;

class MemoryQueue {
public:
  struct Options {
    std::uint32_t slots = 64;
    std::uint64_t id = 1;
    std::optional<std::uint64_t> shuffle_seed = std::nullopt;
    std::uint32_t resident_waves = ~std::uint32_t{0};
    bool strict = false;
    bool knows_barrier_values = true;
  };

  MemoryQueue(Scheduler& scheduler, GridSource& grids, Host& host, const Options& options)
      : ring_(options.slots), scheduler_(scheduler) {
    for (Packet& packet : ring_) packet.header_and_setup = HSA_PACKET_TYPE_INVALID;
    queue_.queue_inactive_signal = inactive_.handle();
    const AqlQueueMemory memory{.gpu = 0,
                                .ring = reinterpret_cast<std::byte*>(ring_.data()),
                                .ring_bytes = ring_.size() * sizeof(Packet),
                                .queue = &queue_};
    const AqlQueue::Setup setup{.id = options.id,
                                .memory = memory,
                                .doorbell = &doorbell_,
                                .cores = 4,
                                .resident_waves = options.resident_waves,
                                .shuffle_seed = options.shuffle_seed,
                                .strict = options.strict,
                                .knows_barrier_values = options.knows_barrier_values};
    target_ = std::make_shared<AqlQueue>(setup, grids, host);
    scheduler_.add(target_);
  }
  MemoryQueue(Scheduler& scheduler, GridSource& grids, Host& host) : MemoryQueue(scheduler, grids, host, Options{}) {}
  ~MemoryQueue() { close(); }
  MemoryQueue(const MemoryQueue&) = delete;
  MemoryQueue& operator=(const MemoryQueue&) = delete;

  void close() {
    if (!target_) return;
    scheduler_.remove(*target_);
    target_->close();
    target_.reset();
  }

  /// Takes the next slot, waiting for it to be free.
  std::uint64_t reserve() {
    const std::uint64_t index = __atomic_fetch_add(&queue_.write_dispatch_id, 1, __ATOMIC_ACQ_REL);
    while (index - read_index() >= ring_.size()) std::this_thread::yield();
    return index;
  }
  void publish(std::uint64_t index, const Packet& packet, std::uint16_t header) {
    Packet& slot = ring_[index % ring_.size()];
    std::memcpy(reinterpret_cast<std::byte*>(&slot) + 4, reinterpret_cast<const std::byte*>(&packet) + 4, 60);
    const std::uint32_t first = (packet.header_and_setup & 0xffff0000U) | header;
    __atomic_store_n(&slot.header_and_setup, first, __ATOMIC_RELEASE);
  }
  void ring(std::uint64_t index) { __atomic_store_n(&doorbell_, index, __ATOMIC_RELEASE); }

  std::uint64_t submit(const Packet& packet, std::uint16_t header) {
    const std::uint64_t index = reserve();
    publish(index, packet, header);
    ring(index);
    return index;
  }

  struct Dispatch {
    std::uint32_t groups = 1;
    std::uint16_t flags = 0;
    std::uint32_t private_bytes = 0;
    const Signal* completion = nullptr;
  };
  static Packet dispatch_packet(const FakeKernel& kernel, const Dispatch& dispatch) {
    Packet packet{};
    packet.dispatch.setup = 1;
    packet.dispatch.workgroup_size_x = 64;
    packet.dispatch.workgroup_size_y = packet.dispatch.workgroup_size_z = 1;
    packet.dispatch.grid_size_x = 64 * dispatch.groups;
    packet.dispatch.grid_size_y = packet.dispatch.grid_size_z = 1;
    packet.dispatch.private_segment_size = dispatch.private_bytes;
    packet.dispatch.kernel_object = kernel.object();
    if (dispatch.completion != nullptr) packet.dispatch.completion_signal = dispatch.completion->handle();
    return packet;
  }
  std::uint64_t dispatch(const FakeKernel& kernel, const Dispatch& dispatch) {
    return submit(dispatch_packet(kernel, dispatch),
                  static_cast<std::uint16_t>(HSA_PACKET_TYPE_KERNEL_DISPATCH | dispatch.flags));
  }
  std::uint64_t barrier(hsa_packet_type_t type, const std::vector<const Signal*>& dependencies,
                        const Signal* completion, std::uint16_t flags = 0) {
    Packet packet{};
    for (std::size_t i = 0; i != dependencies.size(); ++i) packet.barrier.dep_signal[i] = dependencies[i]->handle();
    if (completion != nullptr) packet.barrier.completion_signal = completion->handle();
    return submit(packet, static_cast<std::uint16_t>(type | flags));
  }

  [[nodiscard]] std::uint64_t read_index() const { return __atomic_load_n(&queue_.read_dispatch_id, __ATOMIC_ACQUIRE); }
  [[nodiscard]] Signal& inactive() { return inactive_; }
  [[nodiscard]] const AqlQueue& target() const { return *target_; }
  [[nodiscard]] amd_queue_t& amd() { return queue_; }

private:
  std::vector<Packet> ring_;
  amd_queue_t queue_{};
  Signal inactive_{0};
  std::uint64_t doorbell_ = 0;
  Scheduler& scheduler_;
  std::shared_ptr<AqlQueue> target_;
};

}  // namespace softgpu::command_processor
