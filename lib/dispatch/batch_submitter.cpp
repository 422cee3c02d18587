#include "dispatch/batch_submitter.hpp"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "dispatch/copy_engine.hpp"
#include "dispatch/queue_state.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {
constexpr std::uint64_t nothing_submitted = 0;      // epochs start at 1
constexpr std::uint64_t never = ~std::uint64_t{0};  // no epoch is as large
constexpr std::size_t first_barrier_signal = 2;     // the word of a barrier packet
}  // namespace

Submission BatchSubmitter::submit(const std::shared_ptr<const BatchImage>& image) {
  const std::vector<Packet>& packets = image->stream.packets;
  if (packets.empty()) return queue_.fence();
  // Parts of a batch can't be taken back where there is no room for the rest.
  if (packets.size() > queue_.size() && queue_.when_full() == WhenFull::report) {
    throw QueueFull(fmt::format("a batch of {} packets never fits into a queue of {}: make it larger with "
                                "QueueOptions::size, or use WhenFull::wait, which submits it in parts",
                                packets.size(), queue_.size()));
  }
  InFlight in_flight{.epoch = nothing_submitted, .image = image, .signals = {}};
  try {
    const Submission submission = image->stream.copies.empty() ? submit_in_parts(packets, in_flight, [](std::size_t) {})
                                                               : submit_with_copies(in_flight);
    keep(in_flight);
    return submission;
  } catch (...) {
    if (in_flight.epoch == nothing_submitted) {
      for (PooledSignal& signal : in_flight.signals) signal->store(0);  // free to be reused
    } else {
      in_flight.epoch = never;
      keep(in_flight);
    }
    throw;
  }
}

// In parts where the ring is shorter. No packet waits for a later part, so the ring always drains.
template <class Published>
Submission BatchSubmitter::submit_in_parts(std::span<const Packet> packets, InFlight& in_flight, Published published) {
  std::size_t count = 0;
  while (true) {
    const auto part = packets.subspan(count, std::min<std::size_t>(queue_.size(), packets.size() - count));
    const Submission submission = queue_.submit(part);
    in_flight.epoch = submission.epoch();
    count += part.size();
    published(count);
    if (count == packets.size()) return submission;
  }
}

Submission BatchSubmitter::submit_with_copies(InFlight& in_flight) {
  const std::vector<ScheduledCopy>& copies = in_flight.image->stream.copies;
  std::vector<Packet> packets = in_flight.image->stream.packets;
  const auto new_signal = [&] { return in_flight.signals.emplace_back(signals_.acquire(1))->handle(); };

  std::vector<CopySignals> signals;
  for (const ScheduledCopy& copy : copies) {
    const hsa_signal_t start = copy.after ? new_signal() : signals.back().done;
    signals.push_back({.start = start, .done = new_signal()});
    if (copy.after) packets[*copy.after].set_completion_signal(start);
    if (copy.before) packets[*copy.before].set_word64(first_barrier_signal, signals.back().done.handle);
  }

  // Packets first: their reservation may fail without a trace, but a copy that was started can't be stopped.
  std::size_t started = 0;
  return submit_in_parts(packets, in_flight, [&](std::size_t published) {
    for (; started < copies.size() && copies[started].after.value_or(0) < published; ++started) {
      start(copies[started].step, std::span(signals).subspan(started));
    }
  });
}

void BatchSubmitter::start(const CopyStep& copy, std::span<const CopySignals> signals) {
  try {
    start_copy(queue_.agent(), copy.destination, copy.source, signals.front().done, {&signals.front().start, 1});
  } catch (const Error& error) {
    // What follows would compute with wrong data: nobody may take it for a result, and the ring must drain.
    queue_.fail(error);
    for (const CopySignals& lost : signals) queue_.agent().api().signal_store_screlease(lost.done, 0);
    throw;
  }
}

void BatchSubmitter::keep(InFlight& in_flight) {
  std::unique_lock lock(mutex_, std::defer_lock);
  if (producers_ == Producers::multiple) lock.lock();
  // Replays of one batch share an entry; epochs of different threads may come here out of order.
  if (!in_flight_.empty() && in_flight.signals.empty() && in_flight_.back().signals.empty() &&
      in_flight_.back().image == in_flight.image) {
    in_flight_.back().epoch = std::max(in_flight_.back().epoch, in_flight.epoch);
    return;
  }
  const std::uint64_t completed = queue_.completed_epoch();
  while (!in_flight_.empty() && in_flight_.front().epoch <= completed) in_flight_.pop_front();
  in_flight_.push_back(std::move(in_flight));
}

}  // namespace fastdispatch::detail
