#include "fastdispatch/kernarg.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <utility>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/hardware.hpp"
#include "dispatch/hsa/store_fence.hpp"
#include "dispatch/memory/kernarg_ring.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

namespace {

constexpr std::size_t line = detail::KernargRing::alignment;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line - 1) / line * line; }

void check_device_kernargs(Agent agent) {
  if (!agent.properties().host_visible_memory)
    throw Error(
        fmt::format("kernel arguments in the memory of {}: the host does not see that memory. Enable the resizable BAR "
                    "in the machine's firmware, or use KernargMemory::host",
                    agent.name()));
  switch (detail::kernarg_obstacle(agent.isa(), agent.properties().xgmi_to_host)) {
  case detail::KernargObstacle::none:
    return;
  case detail::KernargObstacle::writes_need_a_flush:
    throw Error(
        fmt::format("kernel arguments in the memory of {}: only gfx90a, gfx94x and gfx950 are known to have the host's "
                    "writes in place once it has read one back. Use KernargMemory::host",
                    agent.name()));
  case detail::KernargObstacle::l2_may_be_stale:
    throw Error(
        fmt::format("kernel arguments in the memory of {}, which the host reaches over PCI Express: the L2 cache may "
                    "keep what the host has overwritten. Use KernargMemory::host",
                    agent.name()));
  }
}

}  // namespace

KernargBlock::KernargBlock(Agent agent, std::size_t bytes, KernargMemory memory)
    : runtime_(detail::share_runtime_of(agent)), agent_(agent), memory_(memory) {
  if (bytes == 0) throw Error("a kernarg block needs a size; kernels without arguments need no block");
  const bool on_device = memory == KernargMemory::device;
  if (on_device) check_device_kernargs(agent);
  const detail::HsaApi& api = agent.api();
  const auto doing = [&] {
    return fmt::format("allocating {} bytes {}for kernel arguments", bytes, on_device ? "of device memory " : "");
  };
  const hsa_amd_memory_pool_t pool = on_device ? agent.pools().coarse_grained : agent.pools().kernarg;
  // Behind the arguments in device memory there is one more line, which is written last and read back.
  const std::size_t allocated = on_device ? whole_lines(bytes) + line : bytes;
  void* allocation = nullptr;
  detail::check(api, api.amd_memory_pool_allocate(pool, allocated, 0, &allocation), "hsa_amd_memory_pool_allocate",
                doing);
  const std::array<hsa_agent_t, 2> agents{agent.handle(), agent.host().handle()};
  if (const hsa_status_t status = api.amd_agents_allow_access(on_device ? 2 : 1, agents.data(), nullptr, allocation);
      status != HSA_STATUS_SUCCESS) {
    api.amd_memory_pool_free(allocation);
    detail::throw_hsa_error(api, status, "hsa_amd_agents_allow_access", doing());
  }
  bytes_ = {static_cast<std::byte*>(allocation), bytes};
}

KernargBlock::~KernargBlock() {
  if (!bytes_.empty()) agent_.api().amd_memory_pool_free(bytes_.data());
}

KernargBlock::KernargBlock(KernargBlock&& other) noexcept
    : runtime_(std::move(other.runtime_)), agent_(other.agent_), memory_(other.memory_),
      bytes_(std::exchange(other.bytes_, {})) {}

KernargBlock& KernargBlock::operator=(KernargBlock&& other) noexcept {
  std::swap(runtime_, other.runtime_);
  std::swap(agent_, other.agent_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

// The mapping is write-combining: stores wait in the processor's buffers, in any order, and no release store of a
// header waits for them. The first fence sends the stores off. Then comes one more store and a read of it. When the
// read is answered, all earlier writes of this processor have arrived.
void KernargBlock::wait_for_arrival() const noexcept {
  const std::atomic_ref last(*reinterpret_cast<std::uint32_t*>(bytes_.data() + whole_lines(bytes_.size())));
  detail::store_fence();
  last.store(1, std::memory_order_relaxed);
#if defined(__x86_64__)
  _mm_mfence();
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
  static_cast<void>(last.load(std::memory_order_acquire));
}

}  // namespace fastdispatch
