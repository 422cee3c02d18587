#include "dispatch/access_history.hpp"

#include <algorithm>
#include <iterator>

namespace fastdispatch::detail {

std::vector<Hazard> AccessHistory::add(std::size_t packet, std::span<const Access> accesses) {
  std::vector<Hazard> hazards;
  // All of them before any is noted: a packet is no hazard to itself.
  for (const Access& access : accesses) {
    visit(access, [&](const Interval& interval) {
      if (interval.written) {
        hazards.push_back({interval.written->packet, std::max(interval.written->scope, access.scope)});
      }
      if (access.writes() && interval.read) hazards.push_back({*interval.read, FenceScope::none});
    });
  }
  for (const Access& access : accesses) {
    if (access.reads()) visit(access, [&](Interval& interval) { interval.read = packet; });
  }
  for (const Access& access : accesses) {
    if (!access.writes()) continue;
    visit(access, [&](Interval& interval) {
      const bool again = interval.written && interval.written->packet == packet;
      const FenceScope scope = again ? std::max(interval.written->scope, access.scope) : access.scope;
      interval = {.written = Hazard{packet, scope}, .read = {}};
    });
  }
  return hazards;
}

AccessHistory::Intervals::iterator AccessHistory::split(std::uintptr_t address) {
  const auto interval = std::prev(intervals_.upper_bound(address));
  if (interval->first == address) return interval;
  return intervals_.emplace_hint(std::next(interval), address, interval->second);
}

template <class Visit>
void AccessHistory::visit(const Access& access, Visit visit) {
  if (access.mode == AccessMode::none) return;
  const auto first = split(access.begin);
  const auto last = split(access.end);
  std::for_each(first, last, [&](auto& interval) { visit(interval.second); });
}

}  // namespace fastdispatch::detail
