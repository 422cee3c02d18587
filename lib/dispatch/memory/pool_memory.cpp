#include "fastdispatch/detail/pool_memory.hpp"

#include <limits>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/memory/host_access.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/detail/forked_child.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

const char* in_words(Coherence coherence) {
  return coherence == Coherence::fine_grained ? "pinned host" : "coarse-grained host";
}

std::size_t bytes_of(std::size_t count, std::size_t element_size, const char* kind) {
  if (count > std::numeric_limits<std::size_t>::max() / element_size) {
    throw Error(
        fmt::format("allocating {} elements of {} bytes of {} memory: the size overflows", count, element_size, kind));
  }
  return count * element_size;
}

std::byte* allocate(Agent agent, hsa_amd_memory_pool_t pool, std::size_t bytes, const char* kind) {
  if (pool.handle == 0) throw Error(fmt::format("{} has no pool of {} memory", agent.name(), kind));
  void* memory = nullptr;
  const HsaApi& api = agent.api();
  check(api, api.amd_memory_pool_allocate(pool, bytes, 0, &memory), "hsa_amd_memory_pool_allocate",
        [&] { return fmt::format("allocating {} bytes of {} memory for {}", bytes, kind, agent.name()); });
  return static_cast<std::byte*>(memory);
}

}  // namespace

PoolMemory::PoolMemory(Agent agent, std::byte* memory, std::size_t bytes, MemoryKind kind, RuntimeShare runtime)
    : runtime_(std::move(runtime)), view_{.address = memory,
                                          .device_address = memory,
                                          .size = bytes,
                                          .kind = kind,
                                          .agent = agent} {}

PoolMemory::~PoolMemory() {
  if (view_.address == nullptr || is_forked_child.load(std::memory_order_relaxed)) return;
  state_of(*view_.agent).host->buffers.remove(view_.address);
  view_.agent->api().amd_memory_pool_free(view_.address);
}

PoolMemory&& PoolMemory::named(std::string_view name) && {
  if (view_.address != nullptr) state_of(*view_.agent).host->buffers.add(view_.address, view_.size, std::string(name));
  return std::move(*this);
}

PoolMemory PoolMemory::device(Agent agent, std::size_t count, std::size_t element_size, std::string_view name) {
  const std::size_t bytes = bytes_of(count, element_size, "device");
  RuntimeShare runtime = share_runtime_of(agent);
  std::byte* memory = bytes == 0 ? nullptr : allocate(agent, agent.pools().coarse_grained, bytes, "device");
  return PoolMemory(agent, memory, bytes, MemoryKind::device, std::move(runtime)).named(name);
}

PoolMemory PoolMemory::pinned(Agent agent, std::size_t count, std::size_t element_size, Coherence coherence,
                              std::string_view name) {
  const std::size_t bytes = bytes_of(count, element_size, in_words(coherence));
  return pinned(agent, bytes, coherence, share_runtime_of(agent)).named(name);
}

PoolMemory PoolMemory::pinned(OwnAgent agent, std::size_t bytes) {
  return pinned(agent.agent, bytes, Coherence::fine_grained, nullptr);
}

PoolMemory PoolMemory::pinned(Agent agent, std::size_t bytes, Coherence coherence, RuntimeShare runtime) {
  if (bytes == 0) return {agent, nullptr, 0, MemoryKind::pinned, std::move(runtime)};
  const AgentPools& pools = agent.pools();
  const hsa_amd_memory_pool_t pool =
      coherence == Coherence::fine_grained ? pools.fine_grained : pools.host_coarse_grained;
  PoolMemory memory(agent, allocate(agent, pool, bytes, in_words(coherence)), bytes, MemoryKind::pinned,
                    std::move(runtime));
  const HsaApi& api = agent.api();
  check(api, allow_every_gpu(agent, memory.data()), "hsa_amd_agents_allow_access",
        [&] { return fmt::format("giving the GPUs access to {} bytes of {} memory", bytes, in_words(coherence)); });
  return memory;
}

}  // namespace fastdispatch::detail
