#include "happens_before.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>
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

std::vector<Access> accesses_by(const Step& step) {
  if (const auto* dispatch = std::get_if<DispatchStep>(&step)) return dispatch->accesses;
  const auto& copy = std::get<CopyStep>(step);
  return {whole(copy.source, AccessMode::read), whole(copy.destination, AccessMode::write)};
}

bool overlap(const Access& a, const Access& b) { return a.begin < b.end && b.begin < a.end; }

}  // namespace

HappensBefore::HappensBefore(const detail::PacketStream& stream)
    : HappensBefore(std::vector<SubmittedPackets>{{.stream = stream, .steps = {}}}) {}

HappensBefore::HappensBefore(std::span<const SubmittedPackets> submissions) {
  std::size_t copies = 0;
  for (const SubmittedPackets& submitted : submissions) {
    const PacketHeader wait =
        encode(BarrierValue{.ordering = {BarrierBit::clear, FenceScope::system, FenceScope::none}}).header();
    headers_.insert(headers_.end(), submitted.waits.size(), wait);
    const std::size_t first = headers_.size();
    for (const Packet& packet : submitted.stream.packets) headers_.push_back(packet.header());
    const auto earlier = submissions.begin() + static_cast<std::ptrdiff_t>(submissions_.size());
    const bool is_first = std::none_of(submissions.begin(), earlier,
                                       [&](const SubmittedPackets& other) { return other.queue == submitted.queue; });
    submissions_.push_back({first, headers_.size() - 1, copies, submitted.steps, submitted.ends_all, is_first});
    copies += submitted.stream.copies.size();
  }
  const std::size_t nodes = 2 * (headers_.size() + copies);
  if (nodes > most_nodes) throw std::length_error("the program is too long for happens_before.hpp");
  follows_.resize(nodes);

  std::map<std::size_t, std::vector<std::size_t>> packets_of;  // by queue
  for (std::size_t number = 0; number < submissions.size(); ++number) {
    const auto& [first, last, first_copy, steps, ends_all, is_first] = submissions_[number];
    const SubmittedPackets& submitted = submissions[number];
    std::vector<std::size_t>& queue = packets_of[submitted.queue];
    for (std::size_t packet = first - submitted.waits.size(); packet <= last; ++packet) {
      add_edge(launch(packet), completion(packet));
      if (packet < first)
        add_edge(completion(submissions_[submitted.waits[first - packet - 1]].last), completion(packet));
      if (!queue.empty()) {
        const std::size_t previous = queue.back();
        add_edge(launch(previous), launch(packet));
        // Packets behind a barrier packet launch only after it has completed.
        if (headers_[previous].type != PacketType::kernel_dispatch) add_edge(completion(previous), launch(packet));
      }
      if (headers_[packet].ordering.barrier == BarrierBit::set)
        for (const std::size_t earlier : queue) add_edge(completion(earlier), launch(packet));
      queue.push_back(packet);
    }
    for (std::size_t i = 0; i < submitted.stream.copies.size(); ++i) {
      const ScheduledCopy& scheduled = submitted.stream.copies[i];
      const std::size_t copy = first_copy + i;
      add_edge(start(copy), end(copy));
      if (scheduled.after) add_edge(completion(first + *scheduled.after), start(copy));
      for (const std::size_t earlier : scheduled.after_copies) add_edge(end(first_copy + earlier), start(copy));
      if (scheduled.before) add_edge(end(copy), completion(first + *scheduled.before));
    }
  }
  close();
}

void HappensBefore::close() {
  for (std::size_t via = 0; via < follows_.size(); ++via)
    for (auto& after : follows_)
      if (after[via]) after |= follows_[via];
}

bool HappensBefore::passes(std::size_t packet, std::size_t later, FenceScope scope) const {
  if (headers_[packet].ordering.release < scope) return false;
  for (std::size_t acquirer = 0; acquirer < headers_.size(); ++acquirer) {
    if (headers_[acquirer].ordering.acquire >= scope && before(completion(packet), launch(acquirer)) &&
        launches_by(acquirer, later))
      return true;
  }
  return false;
}

bool HappensBefore::acquired_from_copy(std::size_t copy, std::size_t later) const {
  for (std::size_t acquirer = 0; acquirer < headers_.size(); ++acquirer) {
    if (headers_[acquirer].ordering.acquire == FenceScope::system && before(end(copy), launch(acquirer)) &&
        launches_by(acquirer, later))
      return true;
  }
  return false;
}

bool HappensBefore::seen_by_system(std::size_t packet, std::size_t node) const {
  for (std::size_t releaser = 0; releaser < headers_.size(); ++releaser) {
    if (headers_[releaser].ordering.release != FenceScope::system) continue;
    const bool in_time = completion(releaser) == node || before(completion(releaser), node);
    if (in_time && (releaser == packet || passes(packet, releaser, FenceScope::agent))) return true;
  }
  return false;
}

bool HappensBefore::sees(Event later, Event earlier, FenceScope scope) const {
  if (earlier.is_copy) return later.is_copy || acquired_from_copy(earlier.index, later.index);
  if (later.is_copy) return seen_by_system(earlier.index, start(later.index));
  if (passes(earlier.index, later.index, scope)) return true;
  // By way of a packet that acquired it from the agent.
  for (std::size_t via = 0; via < headers_.size(); ++via) {
    if (passes(earlier.index, via, FenceScope::agent) && passes(via, later.index, scope)) return true;
  }
  return false;
}

std::vector<HappensBefore::Event> HappensBefore::events_of(std::span<const Step> steps) const {
  std::vector<Event> events(steps.size());
  for (std::size_t number = 0; number < submissions_.size(); ++number) {
    const Submission& submission = submissions_[number];
    std::vector<std::size_t> executed = submission.steps;
    if (submissions_.size() == 1 && executed.empty()) {
      executed.resize(steps.size());
      std::iota(executed.begin(), executed.end(), 0);
    }
    std::size_t packet = submission.first;
    std::size_t copy = submission.first_copy;
    for (const std::size_t step : executed) {
      if (std::holds_alternative<CopyStep>(steps[step])) {
        events[step] = {true, copy++, number};
        continue;
      }
      while (headers_[packet].type != PacketType::kernel_dispatch) ++packet;
      events[step] = {false, packet++, number};
    }
  }
  return events;
}

std::size_t HappensBefore::end_of_all(std::size_t submission) const {
  while (!submissions_[submission].ends_all) ++submission;
  return completion(submissions_[submission].last);
}

std::optional<std::string> HappensBefore::missing_of(std::size_t step, Event event) const {
  const Submission& submission = submissions_[event.submission];
  // Behind steps whose accesses are not known. For known accesses, conflicts are looked at.
  if (submission.is_first && headers_[submission.first].ordering.barrier == BarrierBit::clear)
    return fmt::format("the first packet before step {} does not wait for its queue", step);
  if (event.is_copy && !before(launch(submission.first), start(event.index)))
    return fmt::format("step {} waits for no packet", step);
  const std::size_t all = end_of_all(event.submission);
  if (end_of(event) != all && !before(end_of(event), all)) return fmt::format("step {} may outlast the batch", step);
  if (event.is_copy) return std::nullopt;
  const auto acquires = [](const PacketHeader& header) { return header.ordering.acquire == FenceScope::system; };
  const auto headers = headers_.begin();
  if (std::none_of(headers + static_cast<std::ptrdiff_t>(submission.first),
                   headers + static_cast<std::ptrdiff_t>(event.index) + 1, acquires))
    return fmt::format("step {} may not see its arguments", step);
  return std::nullopt;
}

std::optional<std::string> HappensBefore::missing(std::span<const Step> steps, SharedMemory shared) const {
  const std::vector<Event> events = events_of(steps);
  for (std::size_t y = 0; y < events.size(); ++y)
    if (auto missing = missing_of(y, events[y])) return missing;

  for (std::size_t y = 0; y < events.size(); ++y) {
    for (const Access& later : accesses_by(steps[y])) {
      if (later.writes() && !events[y].is_copy && !seen_by_system(events[y].index, end_of_all(events[y].submission)))
        return fmt::format("the host may not see what step {} wrote", y);
      for (std::size_t x = 0; x < y; ++x) {
        for (const Access& earlier : accesses_by(steps[x])) {
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
