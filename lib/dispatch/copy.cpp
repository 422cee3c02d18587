#include "fastdispatch/copy.hpp"

#include <cstring>

#include <spdlog/fmt/fmt.h>

#include "dispatch/agent_state.hpp"
#include "dispatch/copier.hpp"
#include "dispatch/copy_engine.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/pin.hpp"

namespace fastdispatch {
namespace {

// From here on locking costs less than the host's copy to the staging blocks.
constexpr std::size_t lock_threshold = std::size_t{32} << 20U;

void copy_through_lock(Agent agent, const MemoryView& destination, const MemoryView& source) {
  const bool upload = source.kind == MemoryKind::pageable;
  const MemoryView& pageable = upload ? source : destination;
  const Pin pin(agent, std::span(pageable.address, pageable.size));
  agent.state().copier().copy(upload ? destination : MemoryView(pin), upload ? MemoryView(pin) : source);
}

}  // namespace

namespace detail {

MemoryView host_view(const MemoryView& peer, std::span<std::byte> bytes) {
  if (peer.agent) return view_of(*peer.agent, bytes);
  return {.address = bytes.data(),
          .device_address = bytes.data(),
          .size = bytes.size(),
          .kind = MemoryKind::pageable,
          .agent = std::nullopt};
}

}  // namespace detail

void copy(const MemoryView& destination, const MemoryView& source) {
  detail::check_ranges(destination, source);
  if (source.size == 0) return;
  if (destination.kind != MemoryKind::device && source.kind != MemoryKind::device) {
    std::memcpy(destination.address, source.address, source.size);
    return;
  }
  const Agent agent = destination.kind == MemoryKind::device ? *destination.agent : *source.agent;
  const bool pageable = destination.kind == MemoryKind::pageable || source.kind == MemoryKind::pageable;
  if (!pageable) {
    agent.state().copier().copy(destination, source);
  } else if (source.size >= lock_threshold) {
    copy_through_lock(agent, destination, source);
  } else if (source.kind == MemoryKind::pageable) {
    agent.state().copier().upload(destination, source.address);
  } else {
    agent.state().copier().download(destination.address, source);
  }
}

void copy_async(const MemoryView& destination, const MemoryView& source, const Signal& completion,
                std::span<const hsa_signal_t> depends_on) {
  detail::check_ranges(destination, source);
  detail::check_reachable(destination, source);
  const std::optional<Agent>& agent = destination.agent ? destination.agent : source.agent;
  if (!agent) throw Error("an asynchronous copy of no memory at all: one side must belong to an agent");
  if (source.size == 0) throw Error("an asynchronous copy of 0 bytes: nothing would complete the signal");
  detail::start_copy(*agent, destination, source, completion.handle(), depends_on);
}

}  // namespace fastdispatch
