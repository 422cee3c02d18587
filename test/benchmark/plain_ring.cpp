#include "plain_ring.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

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
}

void PlainRing::write(std::span<const fd::Packet> lines) noexcept {
  const std::size_t start = written_ & (lines_.size() - 1);
  const std::size_t to_end = std::min(lines.size(), lines_.size() - start);
  std::memcpy(&lines_[start], lines.data(), to_end * sizeof(fd::Packet));
  std::memcpy(lines_.data(), lines.data() + to_end, (lines.size() - to_end) * sizeof(fd::Packet));
  ring(lines.size());
}

void PlainRing::stream(std::span<const fd::Packet> lines) noexcept {
  const auto slot = [&](std::size_t i) -> fd::Packet& { return lines_[(written_ + i) & (lines_.size() - 1)]; };
  for (std::size_t i = 0; i < lines.size(); ++i) stream_body(slot(i), lines[i]);
#if defined(__x86_64__)
  _mm_sfence();
#endif
  for (std::size_t i = 0; i < lines.size(); ++i)
    std::atomic_ref(slot(i).words[0]).store(lines[i].words[0], std::memory_order_release);
  ring(lines.size());
}

void PlainRing::wait() noexcept {
  while (std::atomic_ref(read_index_).load(std::memory_order_acquire) != written_) std::this_thread::yield();
}

// As with HSA's doorbells: the index of the last packet.
void PlainRing::ring(std::size_t lines) noexcept {
  written_ += lines;
  std::atomic_ref(doorbell_).store(written_ - 1, std::memory_order_release);
}
