// Which barrier bits and fence scopes the library chooses where its user leaves the choice to it. Every choice stands
// here, with its reason; derived_fences.cpp has the algorithm for Fences::derived, whose rules docs/fences.md proves.
#pragma once

#include <algorithm>

#include "fastdispatch/batch.hpp"
#include "fastdispatch/kernarg.hpp"
#include "fastdispatch/packets.hpp"

namespace fastdispatch::detail::fences {

/// A barrier packet that completes behind all earlier packets, and one that only waits for its signals.
inline constexpr Ordering behind_all{BarrierBit::set, FenceScope::none, FenceScope::none};
inline constexpr Ordering behind_signals{BarrierBit::clear, FenceScope::none, FenceScope::none};

/// A packet that waits for another queue. Packets behind a barrier packet launch only after it has completed; packets
/// in front of it may go on meanwhile. The acquire is for users who submit packets of their own behind it.
inline constexpr Ordering wait_for_queue{BarrierBit::clear, FenceScope::system, FenceScope::none};

/// How far the fences between accesses to memory must reach. Memory that is not the agent's own is seen by the host or
/// by another agent.
[[nodiscard]] constexpr FenceScope scope_of_memory(bool is_agents_own) noexcept {
  return is_agents_own ? FenceScope::agent : FenceScope::system;
}

/// The first dispatch of a batch: it and later dispatches see what the host wrote, their arguments among it.
[[nodiscard]] constexpr Ordering acquired_from_host(Ordering ordering) noexcept {
  ordering.acquire = FenceScope::system;
  return ordering;
}

/// A dispatch by itself. Its block of arguments may have held others: the scalar caches may keep them, and of the
/// agent's own memory the L2 cache, too.
[[nodiscard]] constexpr Ordering with_new_arguments(Ordering ordering, KernargMemory memory) noexcept {
  ordering.acquire =
      std::max(ordering.acquire, memory == KernargMemory::device ? FenceScope::system : FenceScope::agent);
  return ordering;
}

/// The first packet of a batch that may begin beside the packet in front of it.
[[nodiscard]] constexpr Ordering beside_earlier(Ordering ordering) noexcept {
  ordering.barrier = BarrierBit::clear;
  return ordering;
}

/// A dispatch of a batch whose steps run one after the other. With minimal fences the first dispatch reads what the
/// host or a copy wrote; later dispatches read what the agent's caches know. `released_to_system` widens the release of
/// the last dispatch.
[[nodiscard]] constexpr Ordering dispatch_in_turn(Fences fences, bool is_first) noexcept {
  if (fences == Fences::conservative) return {BarrierBit::set, FenceScope::system, FenceScope::system};
  return {BarrierBit::set, is_first ? FenceScope::system : FenceScope::agent, FenceScope::agent};
}

/// The barrier packets of such a batch. In front of a first copy, the queue's earlier packets release their writes for
/// the copy. Behind copies there is nothing to release: copies leave nothing in caches.
[[nodiscard]] constexpr Ordering before_copies(Fences fences) noexcept {
  if (fences == Fences::conservative) return {};
  return {BarrierBit::set, FenceScope::none, FenceScope::system};
}
[[nodiscard]] constexpr Ordering after_copies(Fences fences) noexcept {
  return fences == Fences::conservative ? Ordering{} : behind_all;
}

/// A packet whose writes the host, another agent or a copy reads.
[[nodiscard]] constexpr Ordering released_to_system(Ordering ordering) noexcept {
  ordering.release = FenceScope::system;
  return ordering;
}

/// A packet whose writes are to be seen as far as `scope`, at least.
[[nodiscard]] constexpr Ordering released_to(Ordering ordering, FenceScope scope) noexcept {
  ordering.release = std::max(ordering.release, scope);
  return ordering;
}

/// The last packet of a batch: it completes behind all others and releases their writes to the system. A release passes
/// on only what was acquired before; so the packet acquires if others released to the agent.
[[nodiscard]] constexpr Ordering last_of_all(Ordering ordering, bool others_released) noexcept {
  ordering.barrier = BarrierBit::set;
  if (others_released) ordering.acquire = std::max(ordering.acquire, FenceScope::agent);
  return released_to_system(ordering);
}

}  // namespace fastdispatch::detail::fences
