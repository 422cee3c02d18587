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
  const bool with_copies = !image->stream.copies.empty();
  InFlight& in_flight = begin(image);
  std::uint64_t epoch = nothing_submitted;
  try {
    const Submission submission =
        with_copies ? submit_with_copies(in_flight, epoch) : submit_in_parts(packets, epoch, [](std::size_t) {});
    end(in_flight, epoch);
    return submission;
  } catch (...) {
    if (epoch == nothing_submitted) {
      for (PooledSignal& signal : in_flight.signals) signal->store(0);  // free to be reused
    } else if (with_copies) {
      epoch = never;  // no packet waits for the last copies that were started
    }
    end(in_flight, epoch);
    throw;
  }
}

std::unique_lock<std::mutex> BatchSubmitter::lock_where_shared() {
  return producers_ == Producers::multiple ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
}

BatchSubmitter::InFlight& BatchSubmitter::begin(const std::shared_ptr<const BatchImage>& image) {
  const auto lock = lock_where_shared();
  const auto same = std::find_if(in_flight_.rbegin(), in_flight_.rend(), [&](const InFlight& in_flight) {
    return in_flight.image == image && in_flight.signals.empty();
  });
  if (same != in_flight_.rend() && image->stream.copies.empty()) {
    ++same->submitting;
    return *same;
  }

  const std::uint64_t completed = queue_.completed_epoch();
  for (auto next = in_flight_.begin(); next != in_flight_.end();) {
    const auto in_flight = next++;
    if (in_flight->submitting != 0 || in_flight->epoch > completed) continue;
    in_flight->image = nullptr;
    in_flight->signals.clear();
    idle_.splice(idle_.begin(), in_flight_, in_flight);
  }
  if (idle_.empty()) idle_.emplace_back();
  in_flight_.splice(in_flight_.end(), idle_, idle_.begin());
  in_flight_.back().image = image;
  in_flight_.back().submitting = 1;
  in_flight_.back().epoch = nothing_submitted;
  return in_flight_.back();
}

void BatchSubmitter::end(InFlight& in_flight, std::uint64_t epoch) noexcept {
  const auto lock = lock_where_shared();
  --in_flight.submitting;
  in_flight.epoch = std::max(in_flight.epoch, epoch);  // threads may come here out of order
}

// In parts where the ring is shorter. No packet waits for a later part, so the ring always drains.
template <class Published>
Submission BatchSubmitter::submit_in_parts(std::span<const Packet> packets, std::uint64_t& epoch, Published published) {
  std::size_t count = 0;
  while (true) {
    const auto part = packets.subspan(count, std::min<std::size_t>(queue_.size(), packets.size() - count));
    const Submission submission = queue_.submit(part);
    epoch = submission.epoch();
    count += part.size();
    published(count);
    if (count == packets.size()) return submission;
  }
}

Submission BatchSubmitter::submit_with_copies(InFlight& in_flight, std::uint64_t& epoch) {
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
  return submit_in_parts(packets, epoch, [&](std::size_t published) {
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

}  // namespace fastdispatch::detail
