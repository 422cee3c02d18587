#include "dispatch/derived_fences.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>
#include <vector>

#include "dispatch/access_history.hpp"

namespace fastdispatch::detail {
namespace {

class DerivingEncoder {
public:
  explicit DerivingEncoder(const std::byte* kernargs) : kernargs_(kernargs) {}

  void add(const DispatchStep& step) {
    if (copying_) end_copies();
    const std::size_t packet = stream_.packets.size();
    const std::vector<Hazard> hazards = history_.add(packet, step.accesses);
    const auto is_unordered = [&](const Hazard& hazard) { return hazard.packet >= ordered_; };
    const bool writes = std::any_of(step.accesses.begin(), step.accesses.end(), std::mem_fn(&Access::writes));

    Ordering ordering{.barrier = BarrierBit::clear,
                      .acquire = FenceScope::none,
                      .release = writes ? FenceScope::agent : FenceScope::none};
    // The first packet waits for the queue's earlier submissions. Behind copies the bit costs nothing.
    if (outside_wrote_ || std::any_of(hazards.begin(), hazards.end(), is_unordered)) {
      ordering.barrier = BarrierBit::set;
      ordered_ = packet;
    }
    if (outside_wrote_) ordering.acquire = FenceScope::system;
    outside_wrote_ = false;
    for (const auto& [earlier, scope] : hazards) {
      if (scope == FenceScope::none) continue;
      widen_release(earlier, scope);
      const std::size_t acquired = scope == FenceScope::system ? system_acquired_ : agent_acquired_;
      if (earlier >= acquired) ordering.acquire = std::max(ordering.acquire, scope);
    }
    note_acquire(ordering.acquire);
    stream_.packets.push_back(
        dispatch_packet(*step.kernel, step.grid, step.local_memory, kernargs_ + step.kernarg, ordering));
  }

  void add(const CopyStep& step) {
    ScheduledCopy copy{.step = step, .after = std::nullopt, .before = std::nullopt};
    if (!copying_) {
      gather();
      copy.after = stream_.packets.size() - 1;
    }
    stream_.copies.push_back(copy);
    copying_ = true;
  }

  PacketStream finish() && {
    if (copying_) {
      end_copies();
    } else if (!stream_.packets.empty()) {
      gather();
    }
    return std::move(stream_);
  }

private:
  // Makes the last packet one that completes after all others, and whose release shows the system what they wrote.
  void gather() {
    std::vector<Packet>& packets = stream_.packets;
    if (packets.empty() || packets.back().header().ordering.barrier == BarrierBit::clear) {
      ordered_ = packets.size();
      packets.push_back(encode(BarrierAnd{.ordering = {BarrierBit::set, FenceScope::none, FenceScope::none}}));
    }
    Ordering ordering = packets.back().header().ordering;
    // A release passes on what was acquired before.
    const auto is_released = [](const Packet& packet) { return packet.header().ordering.release != FenceScope::none; };
    const auto unacquired = packets.begin() + static_cast<std::ptrdiff_t>(agent_acquired_);
    if (std::any_of(unacquired, packets.end() - 1, is_released)) {
      ordering.acquire = std::max(ordering.acquire, FenceScope::agent);
      note_acquire(ordering.acquire);
    }
    ordering.release = FenceScope::system;
    packets.back().set_ordering(ordering);
  }

  // The next packets start once the last copy has ended.
  void end_copies() {
    ordered_ = stream_.packets.size();
    stream_.copies.back().before = ordered_;
    stream_.packets.push_back(encode(BarrierAnd{.ordering = {BarrierBit::set, FenceScope::none, FenceScope::none}}));
    copying_ = false;
    outside_wrote_ = true;
    history_.clear();
  }

  void widen_release(std::size_t packet, FenceScope scope) {
    Ordering ordering = stream_.packets[packet].header().ordering;
    ordering.release = std::max(ordering.release, scope);
    stream_.packets[packet].set_ordering(ordering);
  }

  // By the packet that is added next, or was added last: what completed before it launches becomes visible to it and to
  // whatever launches later.
  void note_acquire(FenceScope scope) {
    if (scope != FenceScope::none) agent_acquired_ = ordered_;
    if (scope == FenceScope::system) system_acquired_ = ordered_;
  }

  const std::byte* kernargs_;
  PacketStream stream_;
  AccessHistory history_;
  std::size_t ordered_ = 0;          // packets before this one completed before any later one launches
  std::size_t agent_acquired_ = 0;   // what packets before this one released to the agent has been acquired
  std::size_t system_acquired_ = 0;  // the same of what they released to the system
  bool outside_wrote_ = true;        // the host or a copy, and no dispatch has acquired it yet
  bool copying_ = false;             // the last step was a copy
};

}  // namespace

PacketStream encode_derived(std::span<const Step> steps, const std::byte* kernargs) {
  DerivingEncoder encoder(kernargs);
  for (const Step& step : steps) {
    std::visit([&](const auto& concrete) { encoder.add(concrete); }, step);
  }
  return std::move(encoder).finish();
}

}  // namespace fastdispatch::detail
