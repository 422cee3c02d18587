#include "dispatch/queue/ring.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <random>
#include <stop_token>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace fastdispatch::test {
namespace {

using detail::EndsEpoch;
using detail::Ring;

/// A ring in plain memory, and what a command processor does to it.
struct PlainRing {
  explicit PlainRing(std::uint32_t size, std::uint64_t start = 0)
      : slots(size), write_index(start), read_index(start), consumed(start) {
    for (Packet& slot : slots) slot.words[0] = HSA_PACKET_TYPE_INVALID;
  }

  [[nodiscard]] detail::RingMemory memory() {
    return {.base = slots.data(),
            .size = static_cast<std::uint32_t>(slots.size()),
            .write_index = &write_index,
            .read_index = &read_index};
  }

  /// Takes the next packet, if it is published: reads it whole, invalidates the slot, frees it.
  bool consume(Packet& packet) {
    Packet& slot = slots[consumed % slots.size()];
    const std::atomic_ref header(slot.words[0]);
    const std::uint32_t first_word = header.load(std::memory_order_acquire);
    if (PacketHeader::decode(static_cast<std::uint16_t>(first_word)).type == PacketType::invalid) return false;
    packet = slot;
    header.store(HSA_PACKET_TYPE_INVALID, std::memory_order_relaxed);
    std::atomic_ref(read_index).store(++consumed, std::memory_order_release);
    return true;
  }

  std::vector<Packet> slots;
  std::uint64_t write_index;
  std::uint64_t read_index;
  std::uint64_t consumed;
};

/// A packet whose every word can be checked against its number.
Packet numbered(std::uint64_t number) {
  Packet packet;
  packet.words[0] = PacketHeader{PacketType::kernel_dispatch, {}}.encode() | static_cast<std::uint32_t>(number) << 16U;
  for (std::size_t i = 2; i < 14; i += 2) packet.set_word64(i, number);
  packet.set_completion_signal({number});
  return packet;
}

TEST(Ring, reserves_all_or_nothing) {
  PlainRing plain(64);
  Ring ring(plain.memory(), Producers::multiple);
  ASSERT_TRUE(ring.try_reserve(60, EndsEpoch::no));
  EXPECT_FALSE(ring.try_reserve(5, EndsEpoch::no));
  EXPECT_EQ(plain.write_index, 60U) << "a refused reservation leaves the write index";
  EXPECT_TRUE(ring.try_reserve(4, EndsEpoch::no));
  EXPECT_FALSE(ring.try_reserve(1, EndsEpoch::no));
}

// What a ring in write-combined memory holds at each fence between its stores.
PlainRing* fenced_ring = nullptr;
std::vector<std::vector<Packet>> at_fences;
void note_fence() noexcept { at_fences.push_back(fenced_ring->slots); }

TEST(Ring, in_device_memory_writes_all_bodies_then_all_headers_with_a_fence_behind_each) {
  PlainRing plain(8, 6);  // the packets go around the ring's end
  fenced_ring = &plain;
  at_fences.clear();
  detail::RingMemory memory = plain.memory();
  memory.store_fence = note_fence;
  Ring ring(memory, Producers::single);
  const std::vector<Packet> packets{numbered(1), numbered(2), numbered(3)};
  const auto reservation = ring.try_reserve(3, EndsEpoch::no);
  ASSERT_TRUE(reservation);
  ring.publish(reservation->first, packets, {77});
  ASSERT_EQ(at_fences.size(), 2U);
  for (std::uint64_t i = 0; i < packets.size(); ++i) {
    Packet expected = packets[i];
    if (i == 2) expected.set_completion_signal({77});
    EXPECT_EQ(at_fences[1][(6 + i) % 8], expected);
    expected.words[0] = HSA_PACKET_TYPE_INVALID;
    EXPECT_EQ(at_fences[0][(6 + i) % 8], expected);
  }
}

TEST(Ring, publishes_a_new_packet_as_any_other) {
  for (const bool in_device_memory : {false, true}) {
    PlainRing plain(8, 7);
    fenced_ring = &plain;
    detail::RingMemory memory = plain.memory();
    if (in_device_memory) memory.store_fence = note_fence;
    Ring ring(memory, Producers::single);
    for (const std::uint64_t number : {7, 8}) {
      at_fences.clear();
      const auto reservation = ring.try_reserve(1, EndsEpoch::yes);
      ASSERT_TRUE(reservation);
      ring.publish_new(reservation->first, numbered(number), {99});
      EXPECT_EQ(at_fences.size(), in_device_memory ? 2U : 0U);
      Packet expected = numbered(number);
      expected.set_completion_signal({99});
      Packet packet;
      ASSERT_TRUE(plain.consume(packet));
      EXPECT_EQ(packet, expected);
    }
  }
}

TEST(Ring, has_room_again_for_what_was_consumed) {
  for (const auto producers : {Producers::single, Producers::multiple}) {
    PlainRing plain(64);
    Ring ring(plain.memory(), producers);
    const std::vector<Packet> packets(64, numbered(1));
    const auto first = ring.try_reserve(64, EndsEpoch::yes);
    ASSERT_TRUE(first);
    ring.publish(first->first, packets, {1});
    Packet packet;
    ASSERT_TRUE(plain.consume(packet));
    EXPECT_FALSE(ring.try_reserve(2, EndsEpoch::yes));
    const auto second = ring.try_reserve(1, EndsEpoch::yes);
    ASSERT_TRUE(second);
    EXPECT_EQ(second->first, 64U);
  }
}

TEST(Ring, publishes_bodies_as_they_are_and_the_last_completion_signal_as_asked) {
  PlainRing plain(64, 62);  // across the end of the ring
  Ring ring(plain.memory(), Producers::single);
  const std::array packets{numbered(1), numbered(2), numbered(3)};
  const auto reservation = ring.try_reserve(3, EndsEpoch::yes);
  ASSERT_TRUE(reservation);
  ring.publish(reservation->first, packets, {99});
  Packet packet;
  ASSERT_TRUE(plain.consume(packet));
  EXPECT_EQ(packet, numbered(1));
  ASSERT_TRUE(plain.consume(packet));
  EXPECT_EQ(packet, numbered(2));
  ASSERT_TRUE(plain.consume(packet));
  Packet last = numbered(3);
  last.set_completion_signal({99});
  EXPECT_EQ(packet, last);
  EXPECT_FALSE(plain.consume(packet));
}

TEST(Ring, does_not_show_a_reserved_slot_before_it_is_published) {
  PlainRing plain(64);
  Ring ring(plain.memory(), Producers::multiple);
  const auto slow = ring.try_reserve(1, EndsEpoch::no);
  const auto quick = ring.try_reserve(1, EndsEpoch::no);
  ASSERT_TRUE(slow && quick);
  ring.publish(quick->first, std::array{numbered(2)}, {2});
  Packet packet;
  EXPECT_FALSE(plain.consume(packet));
  ring.publish(slow->first, std::array{numbered(1)}, {1});
  ASSERT_TRUE(plain.consume(packet));
  EXPECT_EQ(packet, numbered(1));
  ASSERT_TRUE(plain.consume(packet));
  EXPECT_EQ(packet, numbered(2));
}

TEST(Ring, counts_epochs_in_the_order_of_the_slots) {
  PlainRing plain(64);
  Ring ring(plain.memory(), Producers::multiple);
  EXPECT_EQ(ring.try_reserve(2, EndsEpoch::yes)->epoch, 1U);
  EXPECT_EQ(ring.try_reserve(3, EndsEpoch::no)->epoch, 2U) << "covered by the next epoch";
  EXPECT_EQ(ring.epochs(), 1U);
  EXPECT_EQ(ring.try_reserve(4, EndsEpoch::yes)->epoch, 2U);
  EXPECT_EQ(ring.epochs(), 2U);
  EXPECT_EQ(ring.end_of(0), 0U);
  EXPECT_EQ(ring.end_of(1), 2U);
  EXPECT_EQ(ring.end_of(2), 9U);
}

constexpr std::uint64_t epoch_mark = std::uint64_t{1} << 63U;

/// Producers that submit batches of 1 to 8 numbered packets, each of which the consumer must see once, whole, in its
/// producer's order, with epochs counted in the order of the ring.
/// The last packet of a batch has its epoch, marked, in the place of the signal.
void submit_from_many_threads(unsigned producers, std::uint64_t packets) {
  PlainRing plain(64);
  Ring ring(plain.memory(), producers == 1 ? Producers::single : Producers::multiple);
  const std::uint64_t share = packets / producers;

  const auto produce = [&](const std::stop_token& stop, unsigned producer) {
    std::minstd_rand random(producer + 1);
    for (std::uint64_t sent = 0; sent < share;) {
      const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(1 + random() % 8, share - sent));
      std::vector<Packet> batch;
      for (std::uint32_t i = 0; i < count; ++i) batch.push_back(numbered(producer * share + sent + i));
      auto reservation = ring.try_reserve(count, EndsEpoch::yes);
      for (; !reservation; reservation = ring.try_reserve(count, EndsEpoch::yes)) {
        if (stop.stop_requested()) return;
        std::this_thread::yield();
      }
      ring.publish(reservation->first, batch, {reservation->epoch | epoch_mark});
      sent += count;
    }
  };

  std::vector<std::jthread> threads;
  for (unsigned producer = 0; producer < producers; ++producer) threads.emplace_back(produce, producer);

  std::vector<std::uint64_t> expected(producers);
  for (unsigned producer = 0; producer < producers; ++producer) expected[producer] = producer * share;
  std::uint64_t epochs = 0;
  for (std::uint64_t seen = 0; seen < share * producers;) {
    Packet packet;
    if (!plain.consume(packet)) {
      std::this_thread::yield();
      continue;
    }
    ++seen;
    const std::uint64_t number = packet.word64(2);
    ASSERT_LT(number, share * producers);
    ASSERT_EQ(number, expected[number / share]++) << "lost, repeated or out of order";
    if (const std::uint64_t signal = packet.completion_signal().handle; (signal & epoch_mark) != 0) {
      ASSERT_EQ(signal ^ epoch_mark, ++epochs) << "epochs are not in the order of the ring";
      packet.set_completion_signal({number});
    }
    ASSERT_EQ(packet, numbered(number)) << "not written when it was published";
  }
  EXPECT_EQ(epochs, ring.epochs());
  EXPECT_EQ(plain.write_index, share * producers);
}

TEST(Ring, loses_nothing_and_shows_no_unwritten_slot_with_eight_producers) { submit_from_many_threads(8, 100'000); }

TEST(Ring, loses_nothing_with_a_single_producer) { submit_from_many_threads(1, 100'000); }

// As the thread does that reports a failure. Under the thread sanitizer, this is about its reports, too.
TEST(Ring, may_be_looked_at_while_packets_are_published) {
  constexpr std::uint64_t packets = 10'000;
  PlainRing plain(16);
  Ring ring(plain.memory(), Producers::single);
  std::jthread producer([&](const std::stop_token& stop) {
    for (std::uint64_t sent = 0; sent < packets && !stop.stop_requested();) {
      const auto reservation = ring.try_reserve(1, EndsEpoch::yes);
      if (!reservation) continue;
      const Packet packet = numbered(++sent);
      ring.publish(reservation->first, {&packet, 1}, {sent});
    }
  });
  for (std::uint64_t seen = 0; seen < packets;) {
    Packet consumed;
    if (plain.consume(consumed)) ++seen;
    const Packet looked_at = ring.peek(seen);
    for (std::size_t i = 2; i < looked_at.words.size(); i += 2) ASSERT_LE(looked_at.words[i], packets);
  }
  EXPECT_EQ(ring.peek(packets - 1).completion_signal().handle, packets);
}

}  // namespace
}  // namespace fastdispatch::test
