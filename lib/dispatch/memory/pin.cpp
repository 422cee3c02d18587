#include "fastdispatch/pin.hpp"

#include <spdlog/fmt/fmt.h>

#include "fastdispatch/detail/check.hpp"

namespace fastdispatch {

Pin::Pin(Agent agent, std::span<std::byte> memory)
    : runtime_(detail::share_runtime_of(agent)), view_{.address = memory.data(),
                                                       .size = memory.size(),
                                                       .kind = MemoryKind::pinned,
                                                       .agent = agent} {
  if (memory.empty()) {
    view_.address = nullptr;
    return;
  }
  const detail::HsaApi& api = agent.api();
  hsa_agent_t handle = agent.handle();
  void* device_address = nullptr;
  detail::check(api, api.amd_memory_lock(memory.data(), memory.size(), &handle, 1, &device_address),
                "hsa_amd_memory_lock",
                [&] { return fmt::format("locking {} bytes of host memory for {}", memory.size(), agent.name()); });
  view_.device_address = static_cast<std::byte*>(device_address);
}

Pin::~Pin() {
  if (view_.address != nullptr) view_.agent->api().amd_memory_unlock(view_.address);
}

}  // namespace fastdispatch
