#include "dispatch/queue_state.hpp"

#include <algorithm>
#include <new>
#include <span>
#include <utility>

#include <hsa/amd_hsa_queue.h>
#include <spdlog/fmt/fmt.h>

#include "dispatch/amd_signal.hpp"
#include "dispatch/backoff.hpp"
#include "dispatch/log.hpp"
#include "dispatch/queue_errors.hpp"

namespace fastdispatch::detail {

namespace {

RingMemory memory_of(hsa_queue_t* queue) {
  auto& amd_queue = *reinterpret_cast<amd_queue_t*>(queue);
  return {.base = static_cast<Packet*>(queue->base_address),
          .size = queue->size,
          .write_index = const_cast<std::uint64_t*>(&amd_queue.write_dispatch_id),
          .read_index = const_cast<std::uint64_t*>(&amd_queue.read_dispatch_id)};
}

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last = 0;
  return ++last;
}

}  // namespace

Doorbell::Doorbell(const HsaApi& api, hsa_signal_t signal) noexcept : api_(&api), signal_(signal) {
  amd_signal_t& doorbell = amd_signal(signal);
  if (doorbell.kind == AMD_SIGNAL_KIND_DOORBELL) hardware_ = const_cast<std::uint64_t*>(doorbell.hardware_doorbell_ptr);
}

QueueState::QueueState(Agent agent, const QueueOptions& options, SharedFate* fate)
    : agent_(agent), when_full_(options.when_full), full_timeout_(options.full_timeout), producers_(options.producers),
      fate_(fate), id_(next_id()), peer_waits_(options.producers), batches_(*this, agent, options.kernarg_memory),
      epoch_signal_(agent, 0), queue_(create(options)), ring_(memory_of(queue_.get()), options.producers),
      doorbell_(agent.api(), queue_->doorbell_signal), kernargs_(agent, options.kernarg_bytes, options.kernarg_memory) {
  agent_.state().queues.add(*this);
  if (fate_ != nullptr) fate_->add(*this);
}

void QueueState::stop() noexcept {
  if (stopped_) return;
  stopped_ = true;
  if (fate_ != nullptr) fate_->remove(*this);
  agent_.state().completions.remove(*this);
  agent_.state().queues.remove(*this);
  queue_.reset();  // until then its kernels may read their arguments, and HSA may report an error, which reads the ring
}

void QueueState::publish_beside_last(const Ring::Reservation& reservation, std::span<const Packet> packets,
                                     EndsEpoch ends_epoch) noexcept {
  Packet first = packets.front();
  Ordering ordering = first.header().ordering;
  ordering.barrier = BarrierBit::clear;
  first.set_ordering(ordering);
  write(reservation.first, std::span(&first, 1), EndsEpoch::no);
  if (packets.size() > 1) write(reservation.first + 1, packets.subspan(1), ends_epoch);
  doorbell_.ring(reservation.first + packets.size() - 1);
}

Submission QueueState::submit(std::span<const Packet> packets) {
  const EndsEpoch ends = ends_epoch(packets);
  const Ring::Reservation reservation = reserve(static_cast<std::uint32_t>(packets.size()), ends);
  publish(reservation, packets, ends);
  return submission(reservation.epoch);
}

Submission QueueState::submit(const Packet& packet, const KernargSlot& slot) {
  try {
    check_type(packet);
    const Submission submission =
        kernargs_.memory() == KernargMemory::host ? submit(std::span(&packet, 1)) : submit_with_device_kernargs(packet);
    retire_kernargs(slot, submission.epoch());
    return submission;
  } catch (...) {
    retire_kernargs(slot, 0);
    throw;
  }
}

Submission QueueState::submit_with_device_kernargs(const Packet& narrow) {
  kernargs_.complete_writes();
  Packet packet = narrow;
  Ordering ordering = packet.header().ordering;
  ordering.acquire = FenceScope::system;  // the agent's caches may keep what the slot held before
  packet.set_ordering(ordering);
  return submit(std::span(&packet, 1));
}

Submission QueueState::fence() {
  const Packet barrier = encode(BarrierAnd{});
  return submit(std::span(&barrier, 1));
}

void QueueState::follow(QueueState& other, std::uint64_t epoch) {
  if (other.completed(epoch)) return;
  other.throw_if_failed();
  other.cover(epoch);
  peer_waits_.wait_once(other.id_, epoch, [&] {
    const auto [signal, threshold] = other.completion_of(epoch);
    // Nothing launches behind a barrier packet before that has completed. What is before it may go on meanwhile. Who
    // submits packets of his own may rely on the acquire.
    const Packet barrier = encode(BarrierValue{.ordering = {BarrierBit::clear, FenceScope::system, FenceScope::none},
                                               .signal = signal,
                                               .condition = HSA_SIGNAL_CONDITION_LT,
                                               .value = threshold});
    submit(std::span(&barrier, 1));
  });
}

void QueueState::try_fence() noexcept {
  const Packet barrier = encode(BarrierAnd{});
  if (const auto reservation = ring_.try_reserve(1, EndsEpoch::yes))
    publish(*reservation, std::span(&barrier, 1), EndsEpoch::yes);
}

Ring::Reservation QueueState::reserve(std::uint32_t count, EndsEpoch ends_epoch) {
  throw_if_failed();
  for (RoomWait wait(*this, count);; wait())
    if (const auto reservation = ring_.try_reserve(count, ends_epoch)) [[likely]]
      return *reservation;
}

void QueueState::RoomWait::operator()() {
  queue_.look_at_copies();
  queue_.throw_if_failed();
  if (queue_.when_full_ == WhenFull::report)
    throw QueueFull(
        fmt::format("submitting {} packets: the queue of {} has no room for them now", packets_, queue_.size()));
  if (!deadline_) deadline_.emplace(queue_.full_timeout_);
  if (backoff_.slow() && deadline_->passed())
    throw TimeoutError(fmt::format("submitting {} packets: no room within {}; {}", packets_,
                                   in_words(queue_.full_timeout_), queue_.describe()));
  backoff_();
}

std::uint64_t QueueState::completed_epoch() const noexcept {
  return static_cast<std::uint64_t>(-load_acquire(epoch_signal_.handle()));
}

void QueueState::wait(std::uint64_t epoch, const WaitOptions& options) {
  if (done(epoch)) return;
  const Deadline deadline(options.timeout);
  const auto time_is_up = [&] {
    throw TimeoutError(
        fmt::format("waiting for a submission: not complete within {}; {}", in_words(options.timeout), describe()));
  };
  // Where a barrier has to follow, there may be no room for it yet.
  for (Backoff backoff; !done(epoch) && !covers(epoch); backoff())
    if (backoff.slow() && deadline.passed()) time_is_up();
  const WaitOptions rest{.policy = options.policy, .timeout = std::min(options.timeout, deadline.left())};
  const auto check = [this] {
    look_at_copies();
    throw_if_failed();
  };
  if (!wait_for(agent_.state(), completion_of(epoch), rest, check)) time_is_up();
}

bool QueueState::done(std::uint64_t epoch) {
  if (completed(epoch)) return true;
  look_at_copies();
  throw_if_failed();
  // The packets carry no epoch signal and no later packet does: let one follow.
  if (!covers(epoch)) try_fence();
  return false;
}

KernargSlot QueueState::acquire_kernargs(std::size_t bytes) {
  {
    const Ring::Turn turn(ring_);
    if (const KernargSlot slot = kernargs_.try_acquire(bytes, completed_epoch()); !slot.bytes.empty()) return slot;
  }
  return wait_for_kernargs(bytes);
}

KernargSlot QueueState::wait_for_kernargs(std::size_t bytes) {
  const Deadline deadline(full_timeout_);
  for (Backoff backoff;; backoff()) {
    std::uint64_t oldest = 0;
    {
      const Ring::Turn turn(ring_);
      if (const KernargSlot slot = kernargs_.try_acquire(bytes, completed_epoch()); !slot.bytes.empty()) return slot;
      oldest = kernargs_.oldest_epoch();
    }
    if (oldest == KernargPool::unretired && producers_ == Producers::single)
      throw Error(
          fmt::format("the queue's kernarg pool of {} bytes is held by blocks that were never submitted: make it "
                      "larger with QueueOptions::kernarg_bytes",
                      kernargs_.capacity()));
    // Where no epoch covers it yet, this lets one follow.
    if (oldest != KernargPool::unretired) static_cast<void>(done(oldest));
    throw_if_failed();
    if (when_full_ == WhenFull::report)
      throw QueueFull(
          fmt::format("the queue's kernarg pool of {} bytes has no {} free now", kernargs_.capacity(), bytes));
    if (backoff.slow() && deadline.passed())
      throw TimeoutError(fmt::format("waiting for {} bytes of the kernarg pool: none free within {}; {}", bytes,
                                     in_words(full_timeout_), describe()));
  }
}

void QueueState::retire_kernargs(const KernargSlot& slot, std::uint64_t epoch) noexcept {
  const Ring::Turn turn(ring_);
  kernargs_.retire(slot, epoch);
}

bool QueueState::look_at_copies() noexcept {
  const auto [any, failure] = fate_ != nullptr ? fate_->look_at_copies() : batches_.copies().look();
  if (!failure || failed()) return any;
  try {
    fail(Error(fmt::format("a copy of a batch failed while it ran: HSA set its completion signal to {}", *failure)));
  } catch (const std::bad_alloc&) {
    fail(agent_.state().queues.wordless_error());
  }
  return any;
}

void QueueState::fail(const Error& error) noexcept {
  fail_alone(error);
  if (fate_ != nullptr) fate_->fail(error);
}

void QueueState::fail_alone(const Error& error) noexcept {
  {
    const std::scoped_lock lock(error_mutex_);
    if (error_) return;
    try {
      error_.emplace(error);
    } catch (const std::bad_alloc&) {
      error_.emplace(agent_.state().queues.wordless_error());
    }
    failed_.store(true, std::memory_order_release);
  }
  agent_.state().queues.count_failure();
  agent_.state().completions.look();
}

void QueueState::fail(hsa_status_t status) noexcept {
  try {
    std::vector<std::string> suspects;
    add_running_kernels(suspects);
    const Error error = queue_error(agent_.api(), status, suspects);
    log().debug("{}", error.what());
    fail(error);
  } catch (const std::bad_alloc&) {
    fail(agent_.state().queues.wordless_error());
  }
}

}  // namespace fastdispatch::detail
