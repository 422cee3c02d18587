#include "dispatch/queue/batch_submitter.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/hsa/log.hpp"
#include "dispatch/memory/copy_engine.hpp"
#include "dispatch/record/fence_rules.hpp"
#include "dispatch/trace/host_span.hpp"

namespace fastdispatch::detail {

namespace {
constexpr std::uint64_t never = ~std::uint64_t{0};  // larger than any epoch
}  // namespace

Submission BatchSubmitter::submit_timed(const BatchRecording& recording, std::span<ParameterValue> values,
                                        const std::shared_ptr<KernelTimes>& times) {
  const PassingVersion passing;
  return submit_watched({.recording = recording, .version = passing.version, .times = &times, .traced = nullptr},
                        values);
}

template <Watched watched>
Submission BatchSubmitter::submit(const Work& work, std::span<ParameterValue> values) {
  const bool parametrized = check_parameters(work, values);
  if (work.recording.empty()) return queue_.barrier();
  return publish<watched>(work, begin(work), values, parametrized);
}
template Submission BatchSubmitter::submit<Watched::no>(const Work& work, std::span<ParameterValue> values);

inline bool BatchSubmitter::check_parameters(const Work& work, std::span<ParameterValue> values) const {
  const BatchParameters& parameters = work.recording.parameters();
  const bool parametrized = !parameters.empty() || !values.empty();
  if (parametrized) parameters.check(values, queue_.agent());
  return parametrized;
}

template <Watched watched>
inline Submission BatchSubmitter::publish(const Work& work, const Beginning& beginning,
                                          std::span<ParameterValue> values, bool parametrized) {
  const auto& [encoded, ready, place, part] = beginning;
  const auto& [reservation, beside_last] = place;
  // From here to the publication nothing fails. An image that changes is this submission's alone until then.
  BatchImage& image = ready.image;
  if (parametrized) {
    work.recording.parameters().apply(values, image.stream.packets, image.dispatches, image.kernargs.bytes().data());
    image.kernargs.complete_writes();
  }
  for (PooledSignal& signal : ready.signals) signal->store(1);
  if constexpr (watched == Watched::yes) {
    if (ready.times != nullptr)
      for (PooledSignal& signal : ready.times->others) signal->store(1);
    if (work.traced != nullptr) {
      std::ranges::copy(image.stream.packets, work.traced->packets.begin());  // with their parameters
      work.traced->note_publication(reservation.first);
    }
  }
  const bool whole = part.size() == image.stream.packets.size();
  const EndsEpoch ends_epoch = whole ? PacketQueue::ends_epoch(part) : EndsEpoch::no;
  if (beside_last)
    queue_.publish_beside_last<watched>(reservation, part, ends_epoch);
  else
    queue_.publish<watched>(reservation, part, ends_epoch);
  return queue_.submission(whole && image.stream.copies.empty()
                               ? reservation.epoch
                               : submit_rest(encoded, ready, part.size(), reservation.epoch));
}

Submission BatchSubmitter::submit_watched(const Work& work, std::span<ParameterValue> values) {
  if (is_watched_by(Watcher::trace) && !work.recording.empty()) {
    const HostSpan span("submission", "submit a batch", {"queue", queue_.id()},
                        {"steps", work.recording.steps().size()});
    if (queue_.try_enable_profiling()) return submit_traced(work, values);
  }
  return submit<Watched::yes>(work, values);
}

// The image is this submission's alone, like that of submit_timed.
Submission BatchSubmitter::submit_traced(const Work& work, std::span<ParameterValue> values) {
  const auto begin = std::chrono::steady_clock::now();
  const bool parametrized = check_parameters(work, values);
  queue_.throw_if_failed();
  queue_.trace().collect();
  const auto times =
      work.times != nullptr ? *work.times : std::make_shared<KernelTimes>(queue_.agent(), work.recording.dispatches());
  times->times_barriers = true;
  const PassingVersion passing;
  Work traced{.recording = work.recording, .version = passing.version, .times = &times, .traced = nullptr};
  EncodedBatches made = make(traced);
  QueueTrace::Record record = record_of(made.front().images.front(), work.recording);
  record.front().begin = begin;
  traced.traced = &record.front();
  const Beginning beginning = begin_later(traced, std::move(made));
  const Submission submission = publish<Watched::yes>(traced, beginning, values, parametrized);
  queue_.trace().add(std::move(record));
  return submission;
}

QueueTrace::Record BatchSubmitter::record_of(const ReadyImage& ready, const BatchRecording& recording) {
  const auto& [packets, copies] = ready.image.stream;
  std::string name =
      fmt::format("batch: {} {}", recording.dispatches(), recording.dispatches() == 1 ? "kernel" : "kernels");
  if (!copies.empty()) name += fmt::format(", {} {}", copies.size(), copies.size() == 1 ? "copy" : "copies");
  QueueTrace::Record record = QueueTrace::record(std::move(name), ready.times);
  TracedSubmission& traced = record.front();
  traced.packets = packets;
  for (const Packet& packet : packets) traced.done.push_back(packet.completion_signal());
  for (std::size_t i = 0; i != copies.size(); ++i)
    traced.copies.push_back({.destination = copies[i].step.destination,
                             .source = copies[i].step.source,
                             .done = ready.copy_signals[i].done});
  return record;
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

BatchSubmitter::Beginning BatchSubmitter::begin_later(const Work& work, EncodedBatches made) {
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
    time_packets(ready, *work.times);
  else if (recording.fences() == Fences::derived)
    encoded.footprint.emplace(recording.steps(), ready.image.stream);

  std::vector<Packet>& packets = ready.image.stream.packets;
  if (queue_.when_full() == WhenFull::report) queue_.check_fits(packets.size());  // otherwise the batch goes in parts
  SignalPool& pool = *state_of(queue_.agent()).device_signals;
  // Times are read from signals that outlive the image.
  std::vector<PooledSignal>& signals = work.times == nullptr ? ready.signals : (*work.times)->others;
  const auto new_signal = [&] { return signals.emplace_back(pool.acquire(0))->handle(); };
  for (const ScheduledCopy& copy : ready.image.stream.copies) {
    CopySignals& its = ready.copy_signals.emplace_back();
    its.done = new_signal();
    if (copy.after) {
      Packet& packet = packets[*copy.after];  // which may start several copies
      if (packet.completion_signal().handle == 0) packet.set_completion_signal(new_signal());
      its.packet = packet.completion_signal();
      its.start.push_back(its.packet);
    }
    for (const std::size_t earlier : copy.after_copies) its.start.push_back(ready.copy_signals[earlier].done);
    if (copy.before) packets[*copy.before].set_barrier_signal(copy.before_signal, its.done);
  }
  if (!ready.copy_signals.empty()) ready.watched.emplace(queue_.copies(), ready.copy_signals);
  return made;
}

// If the last packet has a signal of its own, a packet behind it ends the epoch.
void BatchSubmitter::time_packets(ReadyImage& ready, const std::shared_ptr<KernelTimes>& times) {
  std::vector<Packet>& packets = ready.image.stream.packets;
  for (auto signal = times->signals.begin(); Packet & packet : packets)
    if (packet.header().type == PacketType::kernel_dispatch) packet.set_completion_signal((*signal++)->handle());
  SignalPool& pool = *state_of(times->agent).device_signals;
  for (Packet& packet : packets)
    if (times->times_barriers && packet.completion_signal().handle == 0)
      packet.set_completion_signal(times->others.emplace_back(pool.acquire(0))->handle());
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
    if (published < packets.size())
      log().debug("queue {}: a batch of {} packets goes in parts of up to {}, because the ring has {} slots",
                  queue_.id(), packets.size(), queue_.ring().most_at_once(), queue_.size());
    while (published < packets.size()) {
      const auto part = part_of(packets, published);
      const Ring::Reservation reservation = reserve(encoded, ready, part);
      published += part.size();
      queue_.publish_later_packets(reservation, part,
                                   published == packets.size() ? PacketQueue::ends_epoch(part) : EndsEpoch::no);
      epoch = reservation.epoch;
      start_copies(ready, started, published);
    }
    return epoch;
  } catch (...) {
    // The rest of the batch can't follow any more. A part of it must not pass for a result, and the ring must drain.
    queue_.fail(what_cut_short(ready, started, published));
    for (; started < ready.copy_signals.size(); ++started)
      queue_.agent().api().signal_store_screlease(ready.copy_signals[started].done, 0);
    throw;
  }
}

// Of the exception that is handled.
Error BatchSubmitter::what_cut_short(const ReadyImage& ready, std::size_t started,
                                     std::size_t published) const noexcept {
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      return {ErrorKind::queue_failed,
              fmt::format("only {} of a batch's {} packets and {} of its {} copies could be submitted: {}", published,
                          ready.image.stream.packets.size(), started, ready.copy_signals.size(), error.what())};
    }
  } catch (...) {
    return state_of(queue_.agent()).queues.wordless_error();
  }
}

Ring::Reservation BatchSubmitter::reserve(EncodedBatch& encoded, ReadyImage& ready, std::span<const Packet> part) {
  for (PacketQueue::RoomWait wait(queue_);; wait(queue_.packets_wanted(part.size()))) {
    const Ring::Turn turn(queue_.ring());
    if (const auto place = try_reserve(turn, encoded, ready, part)) return place->reservation;
  }
}

// The others are of copies that were started before, after what the copies wait for was published.
std::span<const hsa_signal_t> BatchSubmitter::wait_for_surplus(std::span<const hsa_signal_t> start) const {
  const HsaApi& api = queue_.agent().api();
  if (start.size() <= api.most_copy_dependencies) return start;
  constexpr std::uint64_t look_ticks = 1'000'000;  // some milliseconds
  for (const hsa_signal_t signal : start.subspan(api.most_copy_dependencies))
    while (queue_.failure() == nullptr &&
           api.signal_wait_scacquire(signal, HSA_SIGNAL_CONDITION_LT, 1, look_ticks, HSA_WAIT_STATE_BLOCKED) >= 1) {
    }
  return start.first(api.most_copy_dependencies);
}

void BatchSubmitter::start_copies(const ReadyImage& ready, std::size_t& started, std::size_t published) {
  const std::vector<ScheduledCopy>& copies = ready.image.stream.copies;
  for (; started < copies.size() && copies[started].after.value_or(0) < published; ++started) {
    const CopyStep& step = copies[started].step;
    const auto& [start, packet, done] = ready.copy_signals[started];
    start_copy(queue_.agent(), step.destination, step.source, done, wait_for_surplus(start));
  }
  // A queue that failed meanwhile has not seen these copies.
  if (queue_.failure() != nullptr) [[unlikely]]
    queue_.copies().release(queue_.agent().api());
}

}  // namespace fastdispatch::detail
