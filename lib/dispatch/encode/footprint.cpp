#include "dispatch/encode/footprint.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>

namespace fastdispatch::detail {

void AddressSet::add(const Access& access) {
  if (access.begin < access.end) intervals_.push_back({access.begin, access.end});
}

void AddressSet::sort() {
  std::sort(intervals_.begin(), intervals_.end(),
            [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
  std::size_t joined = 0;  // intervals so far
  for (const Interval& next : intervals_) {
    if (joined != 0 && next.begin <= intervals_[joined - 1].end)
      intervals_[joined - 1].end = std::max(intervals_[joined - 1].end, next.end);
    else
      intervals_[joined++] = next;
  }
  intervals_.resize(joined);
}

bool AddressSet::meets(const AddressSet& other) const noexcept {
  auto mine = intervals_.begin();
  auto theirs = other.intervals_.begin();
  while (mine != intervals_.end() && theirs != other.intervals_.end()) {
    if (mine->begin < theirs->end && theirs->begin < mine->end) return true;
    if (mine->end <= theirs->end)
      ++mine;
    else
      ++theirs;
  }
  return false;
}

namespace {

// How a step comes after a packet that still runs when the step's batch begins, without a wait of the first packet.
enum class Behind : std::uint8_t {
  nothing,  // may run beside the packet
  order,    // runs behind the packet
  agent,    // runs behind it and has acquired its writes from the agent
  system,   // runs behind it and has acquired its writes from the system
};

Behind behind(FenceScope acquired) {
  switch (acquired) {
  case FenceScope::none:
    return Behind::order;
  case FenceScope::agent:
    return Behind::agent;
  case FenceScope::system:
    break;
  }
  return Behind::system;
}

// Goes through the steps that a stream was encoded from.
class Placement {
public:
  explicit Placement(const PacketStream& stream) : stream_(stream) {
    bool waited = false;
    FenceScope acquired = FenceScope::none;
    for (std::size_t i = 0; i < stream.packets.size(); ++i) {
      const Ordering& ordering = stream.packets[i].header().ordering;
      waited = waited || (i > 0 && ordering.barrier == BarrierBit::set);
      if (waited) acquired = std::max(acquired, ordering.acquire);
      packets_.push_back(waited ? behind(acquired) : Behind::nothing);
    }
  }

  Behind next(const DispatchStep& /*step*/) {
    while (stream_.packets[packet_].header().type != PacketType::kernel_dispatch) ++packet_;
    return packets_[packet_++];
  }
  // A copy sees what was released to the system; the last packet's writes are.
  Behind next(const CopyStep& /*step*/) {
    const ScheduledCopy& copy = stream_.copies[copies_.size()];
    const auto is_ordered = [&](std::size_t earlier) { return copies_[earlier] != Behind::nothing; };
    const bool ordered = (copy.after && packets_[*copy.after] != Behind::nothing) ||
                         std::any_of(copy.after_copies.begin(), copy.after_copies.end(), is_ordered);
    return copies_.emplace_back(ordered ? Behind::system : Behind::nothing);
  }

private:
  const PacketStream& stream_;
  std::vector<Behind> packets_;
  std::vector<Behind> copies_;
  std::size_t packet_ = 0;
};

bool is_dispatch(const Step& step) { return std::holds_alternative<DispatchStep>(step); }

}  // namespace

Footprint::Footprint(std::span<const Step> steps, const PacketStream& stream)
    : has_several_packets_(stream.packets.size() > 1), begin_(steps, stream), end_(steps, stream) {}

Footprint::Begin::Begin(std::span<const Step> steps, const PacketStream& stream) {
  Placement placement(stream);
  for (const Step& step : steps) {
    const Behind place = std::visit([&](const auto& concrete) { return placement.next(concrete); }, step);
    if (place == Behind::system) continue;
    for (const Access& access : accesses_of(step)) {
      touched.add(access);
      if (access.scope == FenceScope::system) touched_for_others.add(access);
      if (place != Behind::agent) touched_without_acquire.add(access);
      if (place == Behind::nothing && access.writes()) wrote_without_order.add(access);
    }
  }
  for (AddressSet* set : {&touched, &touched_for_others, &touched_without_acquire, &wrote_without_order}) set->sort();
}

Footprint::End::End(std::span<const Step> steps, const PacketStream& stream) {
  // Nothing launches behind a barrier packet before the barrier packet and everything in front of it have completed.
  if (stream.packets.empty() || stream.packets.back().header().type != PacketType::kernel_dispatch) return;
  const auto last = std::find_if(steps.rbegin(), steps.rend(), is_dispatch);
  for (const Step& step : steps) {
    if (!is_dispatch(step)) continue;  // what copies wrote is in memory
    const bool is_last = &step == &*last;
    for (const Access& access : accesses_of(step)) {
      if (is_last) last_touched.add(access);
      if (!access.writes()) continue;
      wrote.add(access);
      if (access.scope == FenceScope::system) wrote_for_others.add(access);
      if (is_last) last_wrote.add(access);
    }
  }
  for (AddressSet* set : {&wrote, &wrote_for_others, &last_touched, &last_wrote}) set->sort();
}

bool Footprint::may_begin_beside(const Footprint& before) const noexcept {
  // In a batch of one packet the first packet is also the end, and an end waits for everything before.
  if (!has_several_packets_) return false;
  const End& end = before.end_;
  // The last packet itself.
  if (begin_.wrote_without_order.meets(end.last_touched) || begin_.touched_without_acquire.meets(end.last_wrote))
    return false;
  // The other packets: only the last packet, when it completes, releases their writes to the system.
  return !begin_.touched_for_others.meets(end.wrote) && !begin_.touched.meets(end.wrote_for_others);
}

}  // namespace fastdispatch::detail
