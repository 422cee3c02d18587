#include "dispatch/encode/derived_fences.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "dispatch/encode/access_history.hpp"
#include "dispatch/record/fence_rules.hpp"

namespace fastdispatch::detail {
namespace {

constexpr std::size_t barrier_signals = std::tuple_size_v<decltype(BarrierAnd::signals)>;

bool is_of_dispatch(const Hazard& hazard) { return hazard.earlier.kind == Toucher::Kind::dispatch; }

class DerivingEncoder {
public:
  explicit DerivingEncoder(const std::byte* kernargs) : kernargs_(kernargs) {}

  void add(const DispatchStep& step) {
    const std::vector<Hazard> hazards = history_.hazards(step.accesses);
    wait_for_copies(hazards);
    const std::size_t packet = stream_.packets.size();
    history_.add({Toucher::Kind::dispatch, packet}, step.accesses);

    const bool writes = std::any_of(step.accesses.begin(), step.accesses.end(), std::mem_fn(&Access::writes));
    Ordering ordering{.barrier = BarrierBit::clear,
                      .acquire = FenceScope::none,
                      .release = writes ? FenceScope::agent : FenceScope::none};
    // The first packet waits for the queue's earlier submissions; the queue may clear the bit later.
    const auto is_unordered = [&](const Hazard& h) { return is_of_dispatch(h) && h.earlier.index >= ordered_; };
    if (packet == 0 || std::any_of(hazards.begin(), hazards.end(), is_unordered)) {
      ordering.barrier = BarrierBit::set;
      ordered_ = packet;
    }
    if (!host_acquired_) ordering = fences::acquired_from_host(ordering);
    host_acquired_ = true;
    for (const Hazard& hazard : hazards) {
      if (hazard.scope == FenceScope::none) continue;
      if (is_of_dispatch(hazard)) widen_release(hazard.earlier.index, hazard.scope);
      ordering.acquire = std::max(ordering.acquire, acquire_for(hazard));
    }
    note_acquire(ordering.acquire, packet);
    push(dispatch_packet(*step.kernel, step.grid, step.local_memory, kernargs_ + step.kernarg, ordering));
  }

  void add(const CopyStep& step) {
    const std::array accesses{access_by_copy(step.source, AccessMode::read),
                              access_by_copy(step.destination, AccessMode::write)};
    const std::vector<Hazard> hazards = history_.hazards(accesses);
    history_.add({Toucher::Kind::copy, stream_.copies.size()}, accesses);

    ScheduledCopy copy{.step = step};
    copy.after = start_of(hazards);
    for (const auto& [earlier, scope] : hazards) {
      if (earlier.kind == Toucher::Kind::dispatch)
        widen_release(earlier.index, scope);
      else if (copy.after_copies.empty() || copy.after_copies.back() != earlier.index)
        copy.after_copies.push_back(earlier.index);
    }
    stream_.copies.push_back(std::move(copy));
  }

  PacketStream finish() && {
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < stream_.copies.size(); ++i)
      if (!stream_.copies[i].before) running.push_back(i);
    wait_for(running);
    if (!stream_.packets.empty()) gather();
    return std::move(stream_);
  }

private:
  void push(const Packet& packet) {
    stream_.packets.push_back(packet);
    ordered_at_.push_back(ordered_);
  }

  // The packet whose completion starts a copy: then all dispatches that the copy must come after have completed. None
  // if the copy comes after other copies only.
  [[nodiscard]] std::optional<std::size_t> start_of(std::span<const Hazard> hazards) {
    const auto last = std::find_if(hazards.rbegin(), hazards.rend(), is_of_dispatch);  // they are sorted
    if (last == hazards.rend()) {
      if (!hazards.empty()) return std::nullopt;
      // The first packet waits for earlier submissions, so the copy does, too.
      if (stream_.packets.empty()) push_barrier();
      return 0;
    }
    const std::size_t packet = last->earlier.index;
    const auto has_completed = [&](const Hazard& hazard) {
      return !is_of_dispatch(hazard) || hazard.earlier.index == packet || hazard.earlier.index < ordered_at_[packet];
    };
    if (std::all_of(hazards.begin(), hazards.end(), has_completed)) return packet;
    push_barrier();
    return stream_.packets.size() - 1;
  }

  void push_barrier() {
    ordered_ = stream_.packets.size();
    push(encode(BarrierAnd{.ordering = fences::behind_all}));
  }

  // Lets later packets come after the copies among the hazards.
  void wait_for_copies(std::span<const Hazard> hazards) {
    std::vector<std::size_t> copies;
    for (const auto& [earlier, scope] : hazards) {
      if (earlier.kind == Toucher::Kind::copy && !stream_.copies[earlier.index].before &&
          (copies.empty() || copies.back() != earlier.index))
        copies.push_back(earlier.index);
    }
    wait_for(copies);
  }

  void wait_for(std::span<const std::size_t> copies) {
    for (std::size_t i = 0; i < copies.size(); ++i) {
      if (i % barrier_signals == 0) push(encode(BarrierAnd{.ordering = fences::behind_signals}));
      ScheduledCopy& copy = stream_.copies[copies[i]];
      copy.before = stream_.packets.size() - 1;
      copy.before_signal = i % barrier_signals;
    }
  }

  // The scope at which the next dispatch has to acquire to see the hazard's writes.
  [[nodiscard]] FenceScope acquire_for(const Hazard& hazard) const {
    const auto& [earlier, scope] = hazard;
    if (earlier.kind == Toucher::Kind::copy)
      return last_system_acquire_ > stream_.copies[earlier.index].before ? FenceScope::none : FenceScope::system;
    const std::size_t acquired = scope == FenceScope::system ? system_acquired_ : agent_acquired_;
    return earlier.index < acquired ? FenceScope::none : scope;
  }

  void widen_release(std::size_t packet, FenceScope scope) {
    Packet& releasing = stream_.packets[packet];
    releasing.set_ordering(fences::released_to(releasing.header().ordering, scope));
  }

  // Writes of packets that completed before `packet` launches become visible to `packet` and to all later packets.
  void note_acquire(FenceScope scope, std::size_t packet) {
    if (scope != FenceScope::none) agent_acquired_ = ordered_;
    if (scope != FenceScope::system) return;
    system_acquired_ = ordered_;
    last_system_acquire_ = packet;
  }

  // Lets the last packet complete after all others, and release their writes to the system.
  void gather() {
    std::vector<Packet>& packets = stream_.packets;
    const auto is_dispatch = [](const Packet& packet) { return packet.header().type == PacketType::kernel_dispatch; };
    if (packets.back().header().ordering.barrier == BarrierBit::clear) {
      // If the bit would wait for no dispatch, it costs nothing on the last packet itself.
      const auto unordered = packets.begin() + static_cast<std::ptrdiff_t>(ordered_);
      if (is_dispatch(packets.back()) && std::any_of(unordered, packets.end() - 1, is_dispatch))
        push(encode(BarrierAnd{.ordering = fences::behind_all}));
      ordered_ = packets.size() - 1;
    }
    const auto is_released = [](const Packet& packet) { return packet.header().ordering.release != FenceScope::none; };
    const auto unacquired = packets.begin() + static_cast<std::ptrdiff_t>(agent_acquired_);
    const bool others_released = std::any_of(unacquired, packets.end() - 1, is_released);
    packets.back().set_ordering(fences::last_of_all(packets.back().header().ordering, others_released));
  }

  const std::byte* kernargs_;
  PacketStream stream_;
  AccessHistory history_;
  std::vector<std::size_t> ordered_at_;             // the value of ordered_ behind each packet
  std::size_t ordered_ = 0;                         // packets before this one complete before any later one launches
  std::size_t agent_acquired_ = 0;                  // releases to the agent by packets before this one are acquired
  std::size_t system_acquired_ = 0;                 // the same for releases to the system
  std::optional<std::size_t> last_system_acquire_;  // the packet
  bool host_acquired_ = false;
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
