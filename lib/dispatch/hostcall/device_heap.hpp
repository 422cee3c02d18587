// Memory for kernels that call malloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "fastdispatch/agent.hpp"

namespace fastdispatch::detail::hostcall {

/// Owns what the device library's malloc takes from the host. It lives as long as the agent: a kernel may free what an
/// earlier kernel allocated.
///
/// Thread safety: none.
class DeviceHeap {
public:
  explicit DeviceHeap(Agent agent) : agent_(agent) {}
  ~DeviceHeap();
  DeviceHeap(const DeviceHeap&) = delete;
  DeviceHeap& operator=(const DeviceHeap&) = delete;

  /// The address of `bytes` of the agent's memory; 0 if there is not as much.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  /// False if the address is not one that allocate returned, or was freed.
  [[nodiscard]] bool free(std::uint64_t address) noexcept;

private:
  [[nodiscard]] std::byte* take_from_pool(std::uint64_t bytes) const noexcept;

  Agent agent_;
  std::map<std::uint64_t, std::byte*> allocations_;  ///< by the address that the kernel has
};

}  // namespace fastdispatch::detail::hostcall
