// The least possible cost of bringing packets to another thread: a memcpy into a ring, and one store.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <fastdispatch/packets.hpp>

#include "command_processor.hpp"

/// Owns a ring of 64-byte lines, its doorbell and its read index, which the reader moves.
class PlainRing {
public:
  /// `size` is a power of two.
  explicit PlainRing(std::uint32_t size);
  PlainRing(const PlainRing&) = delete;
  PlainRing& operator=(const PlainRing&) = delete;

  /// What reads the ring.
  [[nodiscard]] fastdispatch::test::RingView view() noexcept { return {lines_, &doorbell_, &read_index_}; }

  /// Copies the lines, then stores the doorbell. There must be room.
  void write(std::span<const fastdispatch::Packet> lines) noexcept;
  /// The same past the caches, by non-temporal stores, and then the first words: a queue's order of stores.
  void stream(std::span<const fastdispatch::Packet> lines) noexcept;
  /// Waits until all lines were read.
  void wait() noexcept;

private:
  void ring(std::size_t lines) noexcept;

  std::vector<fastdispatch::Packet> lines_;
  std::uint64_t written_ = 0;
  alignas(64) std::uint64_t doorbell_ = ~std::uint64_t{0};
  alignas(64) std::uint64_t read_index_ = 0;
};
