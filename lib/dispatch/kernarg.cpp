#include "fastdispatch/kernarg.hpp"

#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/kernarg_ring.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch {

KernargBlock::KernargBlock(Agent agent, std::size_t bytes) : agent_(agent) {
  if (bytes == 0) throw Error("a kernarg block needs a size; kernels without arguments need no block");
  const detail::HsaApi& api = agent.api();
  const auto doing = [&] { return fmt::format("allocating {} bytes for kernel arguments", bytes); };
  void* memory = nullptr;
  detail::check(api, api.amd_memory_pool_allocate(agent.pools().kernarg, bytes, 0, &memory),
                "hsa_amd_memory_pool_allocate", doing);
  const hsa_agent_t reader = agent.handle();
  if (const hsa_status_t status = api.amd_agents_allow_access(1, &reader, nullptr, memory);
      status != HSA_STATUS_SUCCESS) {
    api.amd_memory_pool_free(memory);
    detail::throw_hsa_error(api, status, "hsa_amd_agents_allow_access", doing());
  }
  bytes_ = {static_cast<std::byte*>(memory), bytes};
}

KernargBlock::~KernargBlock() {
  if (!bytes_.empty()) agent_.api().amd_memory_pool_free(bytes_.data());
}

KernargBlock::KernargBlock(KernargBlock&& other) noexcept
    : agent_(other.agent_), bytes_(std::exchange(other.bytes_, {})) {}

KernargBlock& KernargBlock::operator=(KernargBlock&& other) noexcept {
  std::swap(agent_, other.agent_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

namespace {

std::size_t checked_capacity(std::size_t bytes) {
  if (bytes == 0 || bytes % detail::KernargRing::alignment != 0)
    throw Error(fmt::format("a kernarg pool of {} bytes: the size must be a multiple of {} and not zero", bytes,
                            detail::KernargRing::alignment));
  return bytes;
}

}  // namespace

KernargPool::KernargPool(Agent agent, std::size_t bytes)
    : memory_(agent, checked_capacity(bytes)), ring_(std::make_unique<detail::KernargRing>(bytes)) {}

KernargPool::~KernargPool() = default;

KernargSlot KernargPool::try_acquire(std::size_t bytes, std::uint64_t completed_epoch) {
  if (bytes == 0 || bytes > capacity())
    throw Error(
        fmt::format("{} bytes of kernel arguments do not fit into the queue's kernarg pool of {} bytes: make it "
                    "larger with QueueOptions::kernarg_bytes",
                    bytes, capacity()));
  auto block = ring_->try_acquire(bytes);
  if (!block) {
    ring_->reclaim(completed_epoch);
    block = ring_->try_acquire(bytes);
  }
  if (!block) return {};
  return {memory_.bytes().subspan(block->offset, bytes), block->index};
}

void KernargPool::retire(const KernargSlot& slot, std::uint64_t epoch) noexcept { ring_->retire(slot.index, epoch); }

std::uint64_t KernargPool::oldest_epoch() const noexcept { return ring_->oldest_epoch(); }

}  // namespace fastdispatch
