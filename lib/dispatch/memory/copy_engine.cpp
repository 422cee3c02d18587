#include "dispatch/memory/copy_engine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/hsa/watching.hpp"
#include "dispatch/memory/buffer_name.hpp"
#include "dispatch/memory/copy_trace.hpp"
#include "fastdispatch/detail/check.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

hsa_agent_t owner(Agent near, const MemoryView& view) {
  return view.kind == MemoryKind::device ? view.agent->handle() : near.host().handle();
}

const char* in_words(MemoryKind kind) {
  switch (kind) {
  case MemoryKind::device:
    return "device";
  case MemoryKind::pinned:
    return "pinned";
  case MemoryKind::pageable:
    break;
  }
  return "pageable";
}

bool overlap(const std::byte* a, const std::byte* b, std::size_t size) {
  const std::less<> before;
  return before(a, b + size) && before(b, a + size);
}

// HSA replaces the list of those who have access, so the new list has the old one's agents, too.
void give_access(const MemoryView& memory, Agent peer) {
  const HsaApi& api = peer.api();
  const auto doing = [&] {
    return fmt::format("giving {} access to memory of {} for a copy between them", peer.name(), memory.agent->name());
  };
  hsa_amd_pointer_info_t info{};
  info.size = sizeof(info);
  std::uint32_t count = 0;
  hsa_agent_t* listed = nullptr;
  check(api, api.amd_pointer_info(memory.device_address, &info, std::malloc, &count, &listed), "hsa_amd_pointer_info",
        doing);
  const std::unique_ptr<hsa_agent_t, decltype(&std::free)> owner(listed, &std::free);
  std::vector<hsa_agent_t> agents(listed, listed + count);
  const auto is_peer = [&](hsa_agent_t agent) { return agent.handle == peer.handle().handle; };
  if (std::ranges::any_of(agents, is_peer)) return;
  agents.push_back(peer.handle());
  check(api,
        api.amd_agents_allow_access(static_cast<std::uint32_t>(agents.size()), agents.data(), nullptr,
                                    memory.device_address),
        "hsa_amd_agents_allow_access", doing);
}

}  // namespace

void check_ranges(const MemoryView& destination, const MemoryView& source) {
  if (destination.size != source.size) {
    throw Error(
        fmt::format("copying {} bytes of {} memory{} to {} bytes of {} memory{}: the sizes must be equal, take a "
                    "part of the larger side",
                    source.size, in_words(source.kind), buffer_in_brackets(source), destination.size,
                    in_words(destination.kind), buffer_in_brackets(destination)));
  }
  if (source.size != 0 && overlap(destination.address, source.address, source.size)) {
    throw Error(fmt::format("copying {} bytes from {} to {}: source and destination overlap", source.size,
                            fmt::ptr(source.address), fmt::ptr(destination.address)));
  }
}

void make_reachable(const MemoryView& destination, const MemoryView& source) {
  if (destination.kind == MemoryKind::device && source.kind == MemoryKind::device &&
      destination.agent != source.agent) {
    give_access(destination, *source.agent);
    give_access(source, *destination.agent);
  }
  if (destination.kind != MemoryKind::pageable && source.kind != MemoryKind::pageable) return;
  throw Error(fmt::format("an asynchronous copy of {} bytes from {} to {} memory: the device can't reach pageable "
                          "memory; use PinnedBuffer, PinnedMemoryResource or Pin, or the synchronous copy",
                          source.size, in_words(source.kind), in_words(destination.kind)));
}

void start_copy(Agent agent, const MemoryView& destination, const MemoryView& source, hsa_signal_t completion,
                std::span<const hsa_signal_t> depends_on) {
  const HsaApi& api = agent.api();
  if (depends_on.size() > api.most_copy_dependencies)
    throw Error(
        fmt::format("a copy that waits for {} signals: this HSA runtime takes up to {}; a barrier packet can wait "
                    "for more, in turn",
                    depends_on.size(), api.most_copy_dependencies));
  if (is_watched_by(Watcher::trace)) enable_copy_times(agent);
  check(api,
        api.amd_memory_async_copy(destination.device_address, owner(agent, destination), source.device_address,
                                  owner(agent, source), source.size, static_cast<std::uint32_t>(depends_on.size()),
                                  depends_on.empty() ? nullptr : depends_on.data(), completion),
        "hsa_amd_memory_async_copy", [&] {
          return fmt::format("copying {} bytes from {} to {} memory", source.size, in_words(source.kind),
                             in_words(destination.kind));
        });
}

}  // namespace fastdispatch::detail
