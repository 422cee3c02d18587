#include "plain_ring.hpp"

#include "cores.hpp"

#include <algorithm>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace fd = fastdispatch;

namespace {

// Writes INVALID in the place of the first word; without non-temporal stores, leaves it.
void stream_body(fd::Packet& slot, const fd::Packet& line) noexcept {
#if defined(__x86_64__)
  fd::Packet body = line;
  body.words[0] = HSA_PACKET_TYPE_INVALID;
  const auto* from = reinterpret_cast<const __m128i*>(body.words.data());
  auto* to = reinterpret_cast<__m128i*>(slot.words.data());
  for (std::size_t i = 0; i < sizeof(slot) / sizeof(*to); ++i) _mm_stream_si128(to + i, _mm_load_si128(from + i));
#else
  std::copy(line.words.begin() + 1, line.words.end(), slot.words.begin() + 1);
#endif
}

}  // namespace

PlainRing::PlainRing(std::uint32_t size) : lines_(size) {
  for (fd::Packet& line : lines_) line.words[0] = HSA_PACKET_TYPE_INVALID;
  start_threads_on_other_cores();
  reader_ = std::jthread([this](const std::stop_token& stop) { read(stop); });
  stay_on_first_core();
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

void PlainRing::stream(std::span<const fd::Packet> lines) noexcept {
  const auto slot = [&](std::size_t i) -> fd::Packet& { return lines_[(written_ + i) % lines_.size()]; };
  for (std::size_t i = 0; i < lines.size(); ++i) stream_body(slot(i), lines[i]);
#if defined(__x86_64__)
  _mm_sfence();
#endif
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::atomic_ref(slot(i).words[0]).store(lines[i].words[0], std::memory_order_release);
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
