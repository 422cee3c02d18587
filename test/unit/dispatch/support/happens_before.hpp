// The guarantees of the packets of batches, worked out by brute force from headers and signals alone.
#pragma once

#include <bitset>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dispatch/encode/batch_image.hpp"

namespace fastdispatch::test {

/// How far writes must be released and acquired between two kernels of one agent in memory that others see, too.
enum class SharedMemory { agent_scope, system_scope };

/// One submission to a queue. It lies behind earlier submissions to this queue, and behind packets that wait for the
/// ends of other submissions.
struct SubmittedPackets {
  std::size_t queue = 0;
  detail::PacketStream stream;
  std::vector<std::size_t> steps;    ///< the steps that it executes, by their numbers in the program
  std::vector<std::size_t> waits{};  ///< by the order of submission, earlier ones
  bool ends_all = true;              ///< when it completes, all submitted before has
};

/// The order of events by the packet processing model, and which writes each event sees. It knows the steps' accesses
/// and the encoded packets, but not how the packets came about.
class HappensBefore {
public:
  /// Of one batch, all of its steps.
  explicit HappensBefore(const detail::PacketStream& stream);
  explicit HappensBefore(std::span<const SubmittedPackets> submissions);

  /// The first guarantee that a program of `steps` needs and that the packets don't give; nothing if they give all.
  [[nodiscard]] std::optional<std::string> missing(std::span<const detail::Step> steps,
                                                   SharedMemory shared = SharedMemory::agent_scope) const;

  /// Whether both order the same events in the same way.
  [[nodiscard]] bool orders_as(const HappensBefore& other) const { return follows_ == other.follows_; }

private:
  struct Event {
    bool is_copy;
    std::size_t index;
    std::size_t submission;
  };
  struct Submission {
    std::size_t first;  ///< its first packet, behind those that wait for other queues
    std::size_t last;   ///< its last packet
    std::size_t first_copy;
    std::vector<std::size_t> steps;  ///< none: all
    bool ends_all;
    bool is_first;  ///< of its queue
  };

  // Nodes of the graph.
  static constexpr std::size_t most_nodes = 1024;
  [[nodiscard]] static std::size_t launch(std::size_t packet) { return 2 * packet; }
  [[nodiscard]] static std::size_t completion(std::size_t packet) { return 2 * packet + 1; }
  [[nodiscard]] std::size_t start(std::size_t copy) const { return 2 * (headers_.size() + copy); }
  [[nodiscard]] std::size_t end(std::size_t copy) const { return start(copy) + 1; }
  [[nodiscard]] std::size_t begin_of(Event event) const {
    return event.is_copy ? start(event.index) : launch(event.index);
  }
  [[nodiscard]] std::size_t end_of(Event event) const {
    return event.is_copy ? end(event.index) : completion(event.index);
  }

  void add_edge(std::size_t from, std::size_t to) { follows_[from][to] = true; }
  void close();
  [[nodiscard]] bool before(std::size_t a, std::size_t b) const { return follows_[a][b]; }

  /// The event that executes each of `steps`.
  [[nodiscard]] std::vector<Event> events_of(std::span<const detail::Step> steps) const;
  /// The missing guarantees of an event by itself.
  [[nodiscard]] std::optional<std::string> missing_of(std::size_t step, Event event) const;
  /// The event at which the submission and everything before it has completed.
  [[nodiscard]] std::size_t end_of_all(std::size_t submission) const;

  /// Whether `packet` launches before `later`, or is the same packet.
  [[nodiscard]] bool launches_by(std::size_t packet, std::size_t later) const {
    return packet == later || before(launch(packet), launch(later));
  }
  /// Whether writes that `packet` released to `scope` are acquired, from `scope`, by the time that `later` launches.
  [[nodiscard]] bool passes(std::size_t packet, std::size_t later, FenceScope scope) const;
  [[nodiscard]] bool acquired_from_copy(std::size_t copy, std::size_t later) const;
  /// Whether the system sees what `packet` wrote at the time of `node`.
  [[nodiscard]] bool seen_by_system(std::size_t packet, std::size_t node) const;
  [[nodiscard]] bool sees(Event later, Event earlier, FenceScope scope) const;

  std::vector<PacketHeader> headers_;  ///< of all queues
  std::vector<Submission> submissions_;
  std::vector<std::bitset<most_nodes>> follows_;  ///< [a][b]: b comes after a
};

}  // namespace fastdispatch::test
