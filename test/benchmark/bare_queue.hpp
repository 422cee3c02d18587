// Dispatching through the HSA API alone, as in the article that this project follows.
#pragma once

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <cstdint>

/// Owns an HSA queue and its kernels' resources, made before anything is measured.
class BareQueue {
public:
  using Kernel = fastdispatch::Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>;

  BareQueue(const fastdispatch::Runtime& runtime, fastdispatch::Agent gpu, const Kernel& kernel);
  ~BareQueue();
  BareQueue(const BareQueue&) = delete;
  BareQueue& operator=(const BareQueue&) = delete;

  /// Index, arguments, packet, header and doorbell, one packet at a time; the last of `count` has a completion signal.
  void dispatch(std::size_t count);
  void wait() const;
  /// The article's loop: each kernel gets a completion signal and an argument block of its own, made and given back,
  /// and the host waits for it before the next.
  void dispatch_and_wait(std::size_t count);

private:
  /// The runtime that the library opened: the benchmark links none.
  struct Functions {
    decltype(&::hsa_queue_create) queue_create;
    decltype(&::hsa_queue_destroy) queue_destroy;
    decltype(&::hsa_queue_add_write_index_relaxed) queue_add_write_index_relaxed;
    decltype(&::hsa_queue_load_read_index_relaxed) queue_load_read_index_relaxed;
    decltype(&::hsa_signal_create) signal_create;
    decltype(&::hsa_signal_destroy) signal_destroy;
    decltype(&::hsa_signal_store_relaxed) signal_store_relaxed;
    decltype(&::hsa_signal_store_screlease) signal_store_screlease;
    decltype(&::hsa_signal_wait_scacquire) signal_wait_scacquire;
    decltype(&::hsa_amd_memory_pool_allocate) amd_memory_pool_allocate;
    decltype(&::hsa_amd_memory_pool_free) amd_memory_pool_free;
    decltype(&::hsa_amd_agents_allow_access) amd_agents_allow_access;
  };

  std::uint64_t reserve();
  void publish(std::uint64_t index, void* kernarg, std::uint32_t stage, hsa_signal_t completion);
  void wait_for(hsa_signal_t completion) const;

  Functions hsa_{};
  fastdispatch::Agent gpu_;
  const fastdispatch::detail::KernelInfo& kernel_;
  hsa_queue_t* queue_ = nullptr;
  fastdispatch::Signal completion_;
  fastdispatch::KernargBlock kernargs_;  ///< one block a ring slot
};
