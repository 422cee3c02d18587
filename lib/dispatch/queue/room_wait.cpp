// Waiting for room in a queue.
#include <spdlog/fmt/fmt.h>

#include "dispatch/device/failure_messages.hpp"
#include "dispatch/queue/packet_queue.hpp"

namespace fastdispatch::detail {

void PacketQueue::RoomWait::operator()(const Wanted& wanted) {
  if (!span_) span_.emplace("wait", "wait for room in the queue", HostSpan::Number{"queue", queue_.id()});
  queue_.look_at_copies();
  queue_.throw_if_failed();
  const auto no_room = [&] {
    return fmt::format("the queue's {} of {} has no room for {} {}", wanted.place, wanted.capacity, wanted.amount,
                       wanted.unit);
  };
  if (queue_.when_full_ == WhenFull::report) throw QueueFullError(fmt::format("{} now", no_room()));
  if (!deadline_) deadline_.emplace(queue_.full_timeout_);
  if (backoff_.slow() && deadline_->passed())
    throw TimeoutError(fmt::format("{} within {}; {}", no_room(), in_words(queue_.full_timeout_), queue_.describe()));
  backoff_();
}

void PacketQueue::check_fits(std::size_t packets) const {
  if (packets <= ring_.most_at_once()) return;
  throw Error(fmt::format("{} packets in one piece are more than half of a queue of {}, and GPUs may free slots late: "
                          "make the queue larger with QueueOptions::size, submit less at a time, or use "
                          "WhenFull::wait, with which a batch goes in parts",
                          packets, size()));
}

}  // namespace fastdispatch::detail
