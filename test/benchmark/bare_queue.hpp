// Dispatching through nothing but the HSA API, as the article that this project follows does.
#pragma once

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <cstdint>

/// Owns an HSA queue and what its kernels need, made before anything is measured.
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

private:
  /// The runtime that the library opened: the benchmark links none.
  struct Functions {
    decltype(&::hsa_queue_create) queue_create;
    decltype(&::hsa_queue_destroy) queue_destroy;
    decltype(&::hsa_queue_add_write_index_relaxed) queue_add_write_index_relaxed;
    decltype(&::hsa_queue_load_read_index_relaxed) queue_load_read_index_relaxed;
    decltype(&::hsa_signal_store_relaxed) signal_store_relaxed;
    decltype(&::hsa_signal_store_screlease) signal_store_screlease;
    decltype(&::hsa_signal_wait_scacquire) signal_wait_scacquire;
  };

  Functions hsa_{};
  const fastdispatch::detail::KernelInfo& kernel_;
  hsa_queue_t* queue_ = nullptr;
  fastdispatch::Signal completion_;
  fastdispatch::KernargBlock kernargs_;  ///< one block a ring slot
};
