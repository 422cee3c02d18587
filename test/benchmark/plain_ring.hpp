// The least that bringing packets to another thread can cost: a memcpy into a ring, and one store beside it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include <fastdispatch/packets.hpp>

/// Owns a ring of 64-byte lines and the thread that reads them as a command processor does: it waits for the doorbell,
/// reads each line, marks it as INVALID, and moves the read index.
class PlainRing {
public:
  explicit PlainRing(std::uint32_t size);
  ~PlainRing();
  PlainRing(const PlainRing&) = delete;
  PlainRing& operator=(const PlainRing&) = delete;

  /// Copies the lines, then stores the doorbell. There must be room.
  void write(std::span<const fastdispatch::Packet> lines) noexcept;
  /// The same past the caches, by non-temporal stores, and then the first words: a queue's order of stores.
  void stream(std::span<const fastdispatch::Packet> lines) noexcept;
  /// Waits until all lines were read.
  void wait() const noexcept;

private:
  void read(const std::stop_token& stop) noexcept;

  std::vector<fastdispatch::Packet> lines_;
  std::uint64_t written_ = 0;
  alignas(64) std::atomic<std::uint64_t> doorbell_{0};
  alignas(64) std::atomic<std::uint64_t> read_index_{0};
  alignas(64) std::atomic<std::uint32_t> seen_{0};  ///< so that reading is not optimized away
  std::jthread reader_;
};
