// What the packets of a batch guarantee, worked out by brute force from headers and signals alone.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dispatch/batch_image.hpp"

namespace fastdispatch::test {

/// How far writes must be released and acquired between two kernels of one agent in memory that others see, too.
enum class SharedMemory { agent_scope, system_scope };

/// The order of a batch's events as the packet processing model has it, and what each sees of the others' writes. It
/// knows the steps' accesses and the encoded packets, and nothing of how these came about.
class HappensBefore {
public:
  explicit HappensBefore(const detail::PacketStream& stream);

  /// The first guarantee that a program of `steps` needs and the packets don't give; nothing where all are given.
  [[nodiscard]] std::optional<std::string> missing(std::span<const detail::Step> steps,
                                                   SharedMemory shared = SharedMemory::agent_scope) const;

private:
  struct Event {
    bool is_copy;
    std::size_t index;
  };

  // Nodes of the graph.
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

  /// Whether what `packet` released to `scope` is acquired, from `scope`, by the time that `later` launches.
  [[nodiscard]] bool passes(std::size_t packet, std::size_t later, FenceScope scope) const;
  [[nodiscard]] bool acquired_from_copy(std::size_t copy, std::size_t later) const;
  /// Whether the system sees what `packet` wrote at the time of `node`.
  [[nodiscard]] bool seen_by_system(std::size_t packet, std::size_t node) const;
  [[nodiscard]] bool sees(Event later, Event earlier, FenceScope scope) const;

  std::vector<PacketHeader> headers_;
  std::vector<std::vector<bool>> follows_;  ///< [a][b]: b comes after a
};

}  // namespace fastdispatch::test
