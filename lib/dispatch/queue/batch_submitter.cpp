#include "dispatch/queue/batch_submitter.hpp"

#include <algorithm>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/memory/copy_engine.hpp"
#include "dispatch/record/fence_rules.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {
constexpr std::uint64_t never = ~std::uint64_t{0};  // larger than any epoch
}  // namespace

Submission BatchSubmitter::submit_timed(const BatchRecording& recording, std::span<ParameterValue> values,
                                        const std::shared_ptr<KernelTimes>& times) {
  const auto passing = std::make_shared<BatchVersion>();  // its image serves one submission
  passing->outdated = true;
  return submit({.recording = recording, .version = passing, .times = &times}, values);
}

Submission BatchSubmitter::submit(const Work& work, std::span<ParameterValue> values) {
  const BatchParameters& parameters = work.recording.parameters();
  const bool parametrized = !parameters.empty() || !values.empty();
  if (parametrized) parameters.check(values, queue_.agent());
  if (work.recording.empty()) return queue_.barrier();

  const auto [encoded, ready, place, part] = begin(work);
  const auto& [reservation, beside_last] = place;
  // From here to the publication nothing fails. An image that changes is this submission's alone until then.
  BatchImage& image = ready.image;
  if (parametrized) {
    parameters.apply(values, image.stream.packets, image.dispatches, image.kernargs.bytes.data());
    image.kernargs.complete_writes();
  }
  for (PooledSignal& signal : ready.signals) signal->store(1);
  const bool whole = part.size() == image.stream.packets.size();
  const EndsEpoch ends_epoch = whole ? PacketQueue::ends_epoch(part) : EndsEpoch::no;
  if (beside_last)
    queue_.publish_beside_last(reservation, part, ends_epoch);
  else
    queue_.publish(reservation, part, ends_epoch);
  return queue_.submission(whole && image.stream.copies.empty()
                               ? reservation.epoch
                               : submit_rest(encoded, ready, part.size(), reservation.epoch));
}

inline std::optional<BatchSubmitter::Beginning> BatchSubmitter::try_begin(const Ring::Turn& turn,
                                                                          ReadyImage& ready) noexcept {
  const auto part = part_of(ready.image.stream.packets, 0);
  EncodedBatch& encoded = encoded_.front();
  const auto place = try_reserve(turn, encoded, ready, part);
  if (!place) return std::nullopt;
  return Beginning{encoded, ready, *place, part};
}

BatchSubmitter::Beginning BatchSubmitter::begin(const Work& work) {
  queue_.throw_if_failed();
  {
    const Ring::Turn turn(queue_.ring());
    if (ReadyImage* const ready = find(work); ready != nullptr) [[likely]] {
      if (const auto beginning = try_begin(turn, *ready)) [[likely]]
        return *beginning;
    }
  }
  return begin_later(work);
}

BatchSubmitter::Beginning BatchSubmitter::begin_later(const Work& work) {
  EncodedBatches made;
  EncodedBatches retired;  // goes when the turn is over
  for (PacketQueue::RoomWait wait(queue_);;) {
    ReadyImage* ready = nullptr;
    {
      const Ring::Turn turn(queue_.ring());
      if (!made.empty()) add(made, retired);
      ready = find(work);
      if (ready != nullptr) {
        if (const auto beginning = try_begin(turn, *ready)) return *beginning;
      }
    }
    if (ready == nullptr)
      made = make(work);
    else
      wait(queue_.packets_wanted(work.recording.steps().size()));
  }
}

BatchSubmitter::ReadyImage* BatchSubmitter::find(const Work& work) {
  const auto encoded = find_version(*work.version);
  if (encoded == encoded_.end()) return nullptr;
  encoded_.splice(encoded_.begin(), encoded_, encoded);
  ReadyImage& first = encoded->images.front();
  return encoded->shared || first.epoch <= queue_.completed_epoch() ? &first : nullptr;
}

BatchSubmitter::EncodedBatches::iterator BatchSubmitter::find_version(const BatchVersion& version) noexcept {
  return std::find_if(encoded_.begin(), encoded_.end(),
                      [&](const EncodedBatch& candidate) { return candidate.version.get() == &version; });
}

void BatchSubmitter::add(EncodedBatches& made, EncodedBatches& retired) {
  EncodedBatch& added = made.front();
  const auto known = find_version(*added.version);
  if (known != encoded_.end()) {
    if (!known->shared) known->images.splice(known->images.begin(), added.images);
    return;
  }
  added.number = ++numbers_given_;
  for (auto next = encoded_.begin(); next != encoded_.end();) {
    const auto old = next++;
    if (!old->version->outdated.load(std::memory_order_acquire) || old->images.back().epoch > queue_.completed_epoch())
      continue;
    if (last_submitted_ == &*old) last_submitted_ = nullptr;
    retired.splice(retired.end(), encoded_, old);
  }
  encoded_.splice(encoded_.begin(), made);
}

BatchSubmitter::EncodedBatches BatchSubmitter::make(const Work& work) {
  const BatchRecording& recording = work.recording;
  EncodedBatches made;
  EncodedBatch& encoded = made.emplace_back(
      EncodedBatch{.version = work.version, .shared = recording.is_constant() && work.times == nullptr, .images = {}});
  ReadyImage& ready = encoded.images.emplace_back(make_image(recording, queue_.handle(), kernargs_));
  if (work.times != nullptr)
    time_kernels(ready, *work.times);
  else if (recording.fences() == Fences::derived)
    encoded.footprint.emplace(recording.steps(), ready.image.stream);

  std::vector<Packet>& packets = ready.image.stream.packets;
  if (queue_.when_full() == WhenFull::report) queue_.check_fits(packets.size());  // otherwise the batch goes in parts
  SignalPool& pool = *state_of(queue_.agent()).device_signals;
  const auto new_signal = [&] { return ready.signals.emplace_back(pool.acquire(0))->handle(); };
  for (const ScheduledCopy& copy : ready.image.stream.copies) {
    CopySignals& signals = ready.copy_signals.emplace_back();
    signals.done = new_signal();
    if (copy.after) {
      Packet& packet = packets[*copy.after];  // which may start several copies
      if (packet.completion_signal().handle == 0) packet.set_completion_signal(new_signal());
      signals.packet = packet.completion_signal();
      signals.start.push_back(signals.packet);
    }
    for (const std::size_t earlier : copy.after_copies) signals.start.push_back(ready.copy_signals[earlier].done);
    if (copy.before) packets[*copy.before].set_barrier_signal(copy.before_signal, signals.done);
  }
  if (!ready.copy_signals.empty()) ready.watched.emplace(queue_.copies(), ready.copy_signals);
  return made;
}

// The last kernel has a signal of its own: a packet behind it ends the epoch.
void BatchSubmitter::time_kernels(ReadyImage& ready, const std::shared_ptr<KernelTimes>& times) {
  std::vector<Packet>& packets = ready.image.stream.packets;
  for (std::size_t i = 0; i != ready.image.dispatches.size(); ++i)
    packets[ready.image.dispatches[i]].set_completion_signal(times->signals[i]->handle());
  if (packets.back().completion_signal().handle != 0)
    packets.push_back(encode(BarrierAnd{.ordering = fences::behind_all}));
  ready.times = times;
}

// Half a ring at a time where the batch is longer, so that the device works on one half while the other is written. No
// packet waits for a later part, so the ring always drains.
std::span<const Packet> BatchSubmitter::part_of(std::span<const Packet> packets, std::size_t published) const noexcept {
  return packets.subspan(published, std::min<std::size_t>(queue_.ring().most_at_once(), packets.size() - published));
}

std::optional<BatchSubmitter::Place> BatchSubmitter::try_reserve(const Ring::Turn& turn, EncodedBatch& encoded,
                                                                 ReadyImage& ready,
                                                                 std::span<const Packet> part) noexcept {
  const std::vector<Packet>& packets = ready.image.stream.packets;
  const bool first = part.data() == packets.data();
  const bool last = part.data() + part.size() == packets.data() + packets.size();
  const Part which = first ? (last ? Part::whole : Part::first) : (last ? Part::last : Part::middle);
  const auto reservation = queue_.ring().try_reserve(turn, static_cast<std::uint32_t>(part.size()),
                                                     last ? PacketQueue::ends_epoch(part) : EndsEpoch::no, which);
  if (!reservation) return std::nullopt;
  ready.epoch = last ? reservation->epoch : never;
  if (first && !encoded.shared) encoded.images.splice(encoded.images.end(), encoded.images, encoded.images.begin());
  const bool beside_last = first && may_begin_beside_last(encoded, reservation->first);
  if (last) {
    last_submitted_ = &encoded;
    last_end_ = reservation->first + part.size();
  }
  return Place{*reservation, beside_last};
}

bool BatchSubmitter::may_begin_beside_last(EncodedBatch& encoded, std::uint64_t first) const noexcept {
  const bool both_known = encoded.footprint && last_submitted_ != nullptr && last_submitted_->footprint;
  if (!both_known || last_end_ != first) return false;
  if (encoded.followed != last_submitted_->number) {
    encoded.begins_beside_followed = encoded.footprint->may_begin_beside(*last_submitted_->footprint);
    encoded.followed = last_submitted_->number;
  }
  return encoded.begins_beside_followed;
}

std::uint64_t BatchSubmitter::submit_rest(EncodedBatch& encoded, ReadyImage& ready, std::size_t published,
                                          std::uint64_t epoch) {
  const std::vector<Packet>& packets = ready.image.stream.packets;
  std::size_t started = 0;
  try {
    start_copies(ready, started, published);
    while (published < packets.size()) {
      const auto part = part_of(packets, published);
      const Ring::Reservation reservation = reserve(encoded, ready, part);
      published += part.size();
      queue_.publish(reservation, part, published == packets.size() ? PacketQueue::ends_epoch(part) : EndsEpoch::no);
      epoch = reservation.epoch;
      start_copies(ready, started, published);
    }
    return epoch;
  } catch (const Error& error) {
    // The rest of the batch can't follow any more. A part of it must not pass for a result, and the ring must drain.
    queue_.fail(Error(ErrorKind::queue_failed,
                      fmt::format("only {} of a batch's {} packets and {} of its {} copies could be submitted: {}",
                                  published, packets.size(), started, ready.copy_signals.size(), error.what())));
    for (; started < ready.copy_signals.size(); ++started)
      queue_.agent().api().signal_store_screlease(ready.copy_signals[started].done, 0);
    throw;
  }
}

Ring::Reservation BatchSubmitter::reserve(EncodedBatch& encoded, ReadyImage& ready, std::span<const Packet> part) {
  for (PacketQueue::RoomWait wait(queue_);; wait(queue_.packets_wanted(part.size()))) {
    const Ring::Turn turn(queue_.ring());
    if (const auto place = try_reserve(turn, encoded, ready, part)) return place->reservation;
  }
}

void BatchSubmitter::start_copies(const ReadyImage& ready, std::size_t& started, std::size_t published) {
  const std::vector<ScheduledCopy>& copies = ready.image.stream.copies;
  for (; started < copies.size() && copies[started].after.value_or(0) < published; ++started) {
    const CopyStep& step = copies[started].step;
    const auto& [start, packet, done] = ready.copy_signals[started];
    start_copy(queue_.agent(), step.destination, step.source, done, start);
  }
  // A queue that failed meanwhile has not seen these copies.
  if (queue_.failure() != nullptr) [[unlikely]]
    queue_.copies().release(queue_.agent().api());
}

}  // namespace fastdispatch::detail
