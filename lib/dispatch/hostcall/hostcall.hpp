// Hostcall: what kernels ask of the host while they run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <unordered_map>

#include <hsa/hsa.h>

#include "dispatch/hostcall/device_heap.hpp"
#include "dispatch/hostcall/messages.hpp"
#include "dispatch/hostcall/packet_buffer.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/signal.hpp"

namespace fastdispatch::detail {

namespace hostcall {

/// What a queue's kernels have of hostcall.
struct QueueCalls {
  QueueCalls(Agent agent, std::uint32_t packets, hsa_signal_t doorbell)
      : buffer(agent, packets, doorbell), messages(packets * lanes) {}

  PacketBuffer buffer;
  Messages messages;
  bool failed = false;  ///< no call is answered any more: a kernel that goes on would end as if nothing were wrong
};

}  // namespace hostcall

/// Owns an agent's part in hostcall: buffers for its queues, and the thread that serves them. The thread blocks while
/// no kernel calls.
///
/// A wavefront waits until its call was served: what it printed is in the stream, and the stream was flushed.
///
/// Thread safety: every member may be called from any thread.
class Hostcall {
public:
  /// Starts the thread. Throws Error if HSA refuses a signal.
  explicit Hostcall(Agent agent);
  ~Hostcall();
  Hostcall(const Hostcall&) = delete;
  Hostcall& operator=(const Hostcall&) = delete;

  /// The address for kernels of `queue`; its buffer is made at the first call. Throws Error if there is no memory.
  [[nodiscard]] std::uint64_t buffer_of(const hsa_queue_t* queue);
  /// Ends the service for a queue that is about to be destroyed; another queue may then get its address. What this
  /// returns, or null, must live until the queue is destroyed.
  [[nodiscard]] std::unique_ptr<hostcall::QueueCalls> end_for(const hsa_queue_t* queue) noexcept;

  /// The address of the state of kernels' malloc, for hidden_heap_v1; made at the first call. Throws Error if there is
  /// no memory.
  [[nodiscard]] std::uint64_t heap_state();

private:
  void run();
  void serve(const hsa_queue_t* queue, hostcall::QueueCalls& calls);
  void serve(std::uint32_t packet, hostcall::QueueCalls& calls);
  void print(std::span<std::uint64_t> slot, hostcall::Messages& messages);
  void give_memory(std::span<std::uint64_t> slot);

  Agent agent_;
  std::uint32_t packets_;  ///< a buffer
  Signal doorbell_;
  std::atomic<bool> stopping_{false};
  std::mutex heap_state_mutex_;  ///< held while the device copies, and then kernels may call
  std::uint64_t heap_state_ = 0;
  std::mutex mutex_;  ///< for the heap and the queues
  hostcall::DeviceHeap heap_;
  std::unordered_map<const hsa_queue_t*, std::unique_ptr<hostcall::QueueCalls>> queues_;
  std::thread thread_;
};

/// The agent's; made at the first call. Throws Error.
[[nodiscard]] Hostcall& hostcall_of(Agent agent);
/// As Hostcall::end_for; null if the agent has no hostcall.
[[nodiscard]] std::unique_ptr<hostcall::QueueCalls> end_hostcall_for(Agent agent, const hsa_queue_t* queue) noexcept;

}  // namespace fastdispatch::detail
