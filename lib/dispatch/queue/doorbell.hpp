// Telling the command processor up to where to read.
#pragma once

#include <atomic>
#include <cstdint>

#include <hsa/hsa.h>

#include "dispatch/hsa/amd_signal.hpp"
#include "fastdispatch/detail/hsa_api.hpp"

namespace fastdispatch::detail {

/// Thread safety: every member may be called from any thread.
class Doorbell {
public:
  /// A hardware doorbell is written without a call into HSA.
  Doorbell(const HsaApi& api, hsa_signal_t signal) noexcept : api_(&api), signal_(signal) {
    amd_signal_t& doorbell = amd_signal(signal);
    if (doorbell.kind == AMD_SIGNAL_KIND_DOORBELL)
      hardware_ = const_cast<std::uint64_t*>(doorbell.hardware_doorbell_ptr);
  }

  // With several producers a smaller index may follow a larger one: HSA asks for growing values only of queues of type
  // HSA_QUEUE_TYPE_SINGLE.
  void ring(std::uint64_t last_index) const noexcept {
    if (hardware_ != nullptr)
      std::atomic_ref(*hardware_).store(last_index, std::memory_order_release);
    else
      api_->signal_store_screlease(signal_, static_cast<hsa_signal_value_t>(last_index));
  }

private:
  const HsaApi* api_;
  hsa_signal_t signal_;
  std::uint64_t* hardware_ = nullptr;
};

}  // namespace fastdispatch::detail
