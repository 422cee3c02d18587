// An HSA in plain memory: signals, queues, pools and agents as AMD's ABI lays them out, with calls that can be made to
// fail. Its command processor is the test.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>

#include "command_processor.hpp"
#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/amd_signal.hpp"
#include "fastdispatch/detail/hsa_api.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::test {

/// There is one at a time, since HSA's functions have no context.
class MockHsa {
public:
  MockHsa();
  ~MockHsa();
  MockHsa(const MockHsa&) = delete;
  MockHsa& operator=(const MockHsa&) = delete;

  /// A GPU of this HSA with the limits of a gfx90a.
  [[nodiscard]] Agent agent() { return Agent(gpu_); }
  /// The agent's properties; to be changed before the agent is used.
  [[nodiscard]] AgentProperties& properties() { return gpu_.properties; }
  [[nodiscard]] const detail::HsaApi& api() const { return api_; }
  /// As a ROCr whose hsa_amd_signal_wait_any crashes when its time is up.
  void break_time_limits_of_wait_any() { api_.wait_any_keeps_time = false; }
  /// As a ROCr whose copies have room for so many signals.
  void limit_copy_dependencies(std::size_t most) { api_.most_copy_dependencies = most; }

  /// Makes every later call of `function` ("queue_create") return `status`; HSA_STATUS_SUCCESS ends that.
  void fail(const std::string& function, hsa_status_t status);
  /// How often `function` was called.
  [[nodiscard]] int calls(const std::string& function) const;
  /// How often any function was called.
  [[nodiscard]] int calls() const { return all_calls_.load(std::memory_order_relaxed); }

  /// The arguments of a call to hsa_queue_create, and the queue.
  struct MadeQueue {
    amd_queue_t amd{};
    amd_signal_t doorbell{};
    std::uint64_t doorbell_value = ~std::uint64_t{0};
    std::vector<Packet> ring;
    hsa_queue_type32_t type = 0;
    void (*on_error)(hsa_status_t, hsa_queue_t*, void*) = nullptr;
    void* on_error_data = nullptr;
    std::function<void(const Packet&)> on_packet{};  ///< called with each before it completes

    [[nodiscard]] RingView view();
  };
  /// The queue made last that still exists.
  [[nodiscard]] MadeQueue& queue() { return *queues_.back(); }
  /// All that exist, in the order in which they were made.
  [[nodiscard]] std::vector<MadeQueue*> queues() const {
    std::vector<MadeQueue*> result;
    result.reserve(queues_.size());
    for (const auto& made : queues_) result.push_back(made.get());
    return result;
  }
  /// Completes up to `count` packets of `queue` as a command processor would; how many there were.
  static std::size_t complete(MadeQueue& queue, std::size_t count = SIZE_MAX);
  /// Gives queues that are made from now on doorbells that only HSA can ring, of the kind that old GPUs have, so that
  /// the rings of all of them are counted: each is a call.
  void count_rings() { counts_rings_ = true; }
  [[nodiscard]] int rings() const { return rings_.load(std::memory_order_relaxed); }
  /// Calls the error callback of `queue`, as ROCr does from a thread of its own.
  static void report_error(MadeQueue& queue, hsa_status_t status);

  /// A call of hsa_amd_memory_async_copy.
  struct StartedCopy {
    void* destination;
    const void* source;
    std::size_t bytes;
    std::vector<hsa_signal_t> depends_on;
    hsa_signal_t completion;
    bool ended = false;
  };
  [[nodiscard]] const std::vector<StartedCopy>& copies() const { return copies_; }
  /// As if the copy had not ended.
  void reopen_copy(std::size_t copy) {
    const std::scoped_lock lock(mutex_);
    copies_[copy].ended = false;
    const_cast<std::int64_t&>(detail::amd_signal(copies_[copy].completion).value) = 1;
  }
  /// Ends a copy, whatever it waits for.
  void end_copy(std::size_t copy) {
    const std::scoped_lock lock(mutex_);
    copies_[copy].ended = true;
    auto& value = const_cast<std::int64_t&>(detail::amd_signal(copies_[copy].completion).value);
    std::atomic_ref(value).store(0, std::memory_order_release);
  }
  /// How many, where another thread may be starting them.
  [[nodiscard]] std::size_t started_copies() const;
  /// How many ranges are locked.
  [[nodiscard]] std::size_t locks() const;
  /// Ends each of the next copies as soon as it is started, its signal at the value given here. Other copies that wait
  /// for signals end when these are 0 and the host sets a signal to 0, or destroys a queue or a signal.
  void end_copies(std::deque<hsa_signal_value_t> values) {
    const std::scoped_lock lock(mutex_);
    ended_copies_ = std::move(values);
  }

  /// Lets hsa_amd_pointer_info tell this of the addresses that it is about; of others it knows nothing.
  void know(const hsa_amd_pointer_info_t& pointer) { pointers_.push_back(pointer); }

  /// Whom the last call of hsa_amd_agents_allow_access named.
  [[nodiscard]] const std::vector<std::uint64_t>& allowed_agents() const { return allowed_agents_; }
  /// A second GPU of the same runtime, with the handle 3.
  void add_gpu() { gpu_.gpus.push_back({3}); }

  /// The host's NUMA nodes, as many as there are ways from the GPU to them: each the NUMA distances of its links, none
  /// where HSA knows no way. The first node is agent 1 with pools 11 and 12, the second agent 4 with 41 and 42.
  void set_host_nodes(std::vector<std::vector<std::uint32_t>> ways) { distances_ = std::move(ways); }

  [[nodiscard]] std::size_t signals() const;
  /// How many threads waited for the signal in HSA at once, at most.
  [[nodiscard]] int most_waiters(hsa_signal_t signal) const;
  [[nodiscard]] std::size_t allocations() const;
  struct Allocation {
    hsa_amd_memory_pool_t pool;
    void* memory;
  };
  [[nodiscard]] Allocation last_allocation() const { return last_allocation_; }
  /// How many there were when a queue was destroyed last.
  [[nodiscard]] std::size_t allocations_of_last_queue() const { return allocations_of_last_queue_; }

private:
  friend struct Functions;
  template <auto function>
  friend struct Counted;

  hsa_status_t record(const std::string& function);
  // The caller holds mutex_:
  void end_ready_copies();
  void forget_copies_of(hsa_signal_t signal);

  bool counts_rings_ = false;
  // Relaxed, so that the thread sanitizer takes them for no synchronization.
  std::atomic<int> rings_{0};
  std::atomic<int> all_calls_{0};
  mutable std::mutex mutex_;
  std::map<std::string, hsa_status_t> failures_;
  std::map<std::string, int> calls_;
  std::vector<std::unique_ptr<MadeQueue>> queues_;
  std::vector<std::unique_ptr<amd_signal_t>> signals_;
  struct Waiters {
    int now = 0;
    int most = 0;
  };
  std::map<std::uint64_t, Waiters> waiters_;  ///< by signal
  std::vector<void*> allocations_;
  Allocation last_allocation_{};
  std::vector<std::uint64_t> allowed_agents_;
  std::size_t allocations_of_last_queue_ = 0;
  std::vector<std::vector<std::uint32_t>> distances_{{20}};
  std::vector<StartedCopy> copies_;
  std::vector<hsa_amd_pointer_info_t> pointers_;
  std::deque<hsa_signal_value_t> ended_copies_;
  detail::HsaApi api_;
  detail::AgentState gpu_;
};

}  // namespace fastdispatch::test
