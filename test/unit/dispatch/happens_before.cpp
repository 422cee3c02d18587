#include "happens_before.hpp"

#include <algorithm>
#include <variant>

#include <spdlog/fmt/fmt.h>

namespace fastdispatch::test {
namespace {

using detail::Access;
using detail::CopyStep;
using detail::DispatchStep;
using detail::ScheduledCopy;
using detail::Step;

Access whole(const MemoryView& view, AccessMode mode) {
  const auto begin = reinterpret_cast<std::uintptr_t>(view.address);
  return {.begin = begin, .end = begin + view.size, .mode = mode, .scope = FenceScope::system};
}

std::vector<Access> accesses_of(const Step& step) {
  if (const auto* dispatch = std::get_if<DispatchStep>(&step)) return dispatch->accesses;
  const auto& copy = std::get<CopyStep>(step);
  return {whole(copy.source, AccessMode::read), whole(copy.destination, AccessMode::write)};
}

bool overlap(const Access& a, const Access& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

HappensBefore::HappensBefore(const detail::PacketStream& stream) {
  for (const Packet& packet : stream.packets) headers_.push_back(packet.header());
  const std::size_t nodes = 2 * (stream.packets.size() + stream.copies.size());
  follows_.assign(nodes, std::vector<bool>(nodes));

  for (std::size_t packet = 0; packet < headers_.size(); ++packet) {
    add_edge(launch(packet), completion(packet));
    if (packet == 0) continue;
    add_edge(launch(packet - 1), launch(packet));
    // Nothing launches behind a barrier packet before that has completed.
    if (headers_[packet - 1].type != PacketType::kernel_dispatch) add_edge(completion(packet - 1), launch(packet));
    if (headers_[packet].ordering.barrier == BarrierBit::clear) continue;
    for (std::size_t earlier = 0; earlier < packet; ++earlier) add_edge(completion(earlier), launch(packet));
  }
  for (std::size_t copy = 0; copy < stream.copies.size(); ++copy) {
    const ScheduledCopy& scheduled = stream.copies[copy];
    add_edge(start(copy), end(copy));
    if (scheduled.after) add_edge(completion(*scheduled.after), start(copy));
    for (const std::size_t earlier : scheduled.after_copies) add_edge(end(earlier), start(copy));
    if (scheduled.before) add_edge(end(copy), completion(*scheduled.before));
  }
  close();
}

void HappensBefore::close() {
  const std::size_t nodes = follows_.size();
  for (std::size_t via = 0; via < nodes; ++via) {
    for (std::size_t from = 0; from < nodes; ++from) {
      if (!follows_[from][via]) continue;
      for (std::size_t to = 0; to < nodes; ++to) {
        if (follows_[via][to]) follows_[from][to] = true;
      }
    }
  }
}

bool HappensBefore::passes(std::size_t packet, std::size_t later, FenceScope scope) const {
  if (headers_[packet].ordering.release < scope) return false;
  for (std::size_t acquirer = packet + 1; acquirer <= later; ++acquirer) {
    if (headers_[acquirer].ordering.acquire >= scope && before(completion(packet), launch(acquirer))) return true;
  }
  return false;
}

bool HappensBefore::acquired_from_copy(std::size_t copy, std::size_t later) const {
  for (std::size_t acquirer = 0; acquirer <= later; ++acquirer) {
    if (headers_[acquirer].ordering.acquire == FenceScope::system && before(end(copy), launch(acquirer))) return true;
  }
  return false;
}

bool HappensBefore::seen_by_system(std::size_t packet, std::size_t node) const {
  for (std::size_t releaser = packet; releaser < headers_.size(); ++releaser) {
    const bool has_it = releaser == packet || passes(packet, releaser, FenceScope::agent);
    const bool in_time = completion(releaser) == node || before(completion(releaser), node);
    if (has_it && in_time && headers_[releaser].ordering.release == FenceScope::system) return true;
  }
  return false;
}

bool HappensBefore::sees(Event later, Event earlier, FenceScope scope) const {
  if (earlier.is_copy) return later.is_copy || acquired_from_copy(earlier.index, later.index);
  if (later.is_copy) return seen_by_system(earlier.index, start(later.index));
  if (passes(earlier.index, later.index, scope)) return true;
  // By way of one that had it from the agent.
  for (std::size_t via = earlier.index + 1; via < later.index; ++via) {
    if (passes(earlier.index, via, FenceScope::agent) && passes(via, later.index, scope)) return true;
  }
  return false;
}

std::optional<std::string> HappensBefore::missing(std::span<const Step> steps, SharedMemory shared) const {
  std::vector<Event> events;
  std::size_t packet = 0;
  std::size_t copy = 0;
  for (const Step& step : steps) {
    if (std::holds_alternative<CopyStep>(step)) {
      events.push_back({true, copy++});
      continue;
    }
    while (headers_[packet].type != PacketType::kernel_dispatch) ++packet;
    events.push_back({false, packet++});
  }

  // Between this submission and the ones before and after it.
  if (headers_.front().ordering.barrier == BarrierBit::clear) return "the first packet does not wait for its queue";
  const std::size_t last = completion(headers_.size() - 1);
  for (std::size_t y = 0; y < events.size(); ++y) {
    if (events[y].is_copy && !before(launch(0), start(events[y].index)))
      return fmt::format("step {} waits for no packet", y);
    if (end_of(events[y]) != last && !before(end_of(events[y]), last))
      return fmt::format("step {} may outlast the batch", y);
    if (events[y].is_copy) continue;
    const auto acquires = [](const PacketHeader& header) { return header.ordering.acquire == FenceScope::system; };
    const auto until = headers_.begin() + static_cast<std::ptrdiff_t>(events[y].index) + 1;
    if (std::none_of(headers_.begin(), until, acquires)) return fmt::format("step {} may not see its arguments", y);
  }

  for (std::size_t y = 0; y < events.size(); ++y) {
    for (const Access& later : accesses_of(steps[y])) {
      if (later.writes() && !events[y].is_copy && !seen_by_system(events[y].index, last))
        return fmt::format("the host may not see what step {} wrote", y);
      for (std::size_t x = 0; x < y; ++x) {
        for (const Access& earlier : accesses_of(steps[x])) {
          if (!overlap(earlier, later) || !(earlier.writes() || later.writes())) continue;
          if (!before(end_of(events[x]), begin_of(events[y]))) return fmt::format("step {} may overtake step {}", y, x);
          const bool is_shared = std::max(earlier.scope, later.scope) == FenceScope::system;
          const FenceScope scope =
              is_shared && shared == SharedMemory::system_scope ? FenceScope::system : FenceScope::agent;
          if (earlier.writes() && !sees(events[y], events[x], scope))
            return fmt::format("step {} may not see what step {} wrote", y, x);
        }
      }
    }
  }
  return std::nullopt;
}

}  // namespace fastdispatch::test
