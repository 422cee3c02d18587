#include "plain_ring.hpp"

#include <algorithm>
#include <cstring>

namespace fd = fastdispatch;

PlainRing::PlainRing(std::uint32_t size) : lines_(size) {
  for (fd::Packet& line : lines_) line.words[0] = HSA_PACKET_TYPE_INVALID;
  reader_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
}

PlainRing::~PlainRing() = default;

void PlainRing::write(std::span<const fd::Packet> lines) noexcept {
  const std::size_t start = written_ % lines_.size();
  const std::size_t to_end = std::min(lines.size(), lines_.size() - start);
  std::memcpy(&lines_[start], lines.data(), to_end * sizeof(fd::Packet));
  std::memcpy(lines_.data(), lines.data() + to_end, (lines.size() - to_end) * sizeof(fd::Packet));
  written_ += lines.size();
  doorbell_.store(written_, std::memory_order_release);
}

void PlainRing::wait() const noexcept {
  while (read_index_.load(std::memory_order_acquire) != written_) std::this_thread::yield();
}

void PlainRing::read(const std::stop_token& stop) noexcept {
  std::uint64_t next = 0;
  while (!stop.stop_requested()) {
    const std::uint64_t end = doorbell_.load(std::memory_order_acquire);
    if (next == end) std::this_thread::yield();
    for (; next != end; ++next) {
      fd::Packet& line = lines_[next % lines_.size()];
      std::uint32_t sum = 0;
      for (const std::uint32_t word : line.words) sum += word;
      seen_.store(sum, std::memory_order_relaxed);
      std::atomic_ref(line.words[0]).store(HSA_PACKET_TYPE_INVALID, std::memory_order_relaxed);
      read_index_.store(next + 1, std::memory_order_release);
    }
  }
}
