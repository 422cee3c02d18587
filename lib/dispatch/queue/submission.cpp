#include "fastdispatch/submission.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "dispatch/device/agent_state.hpp"
#include "dispatch/device/backoff.hpp"
#include "dispatch/device/completions.hpp"
#include "dispatch/device/failure_messages.hpp"
#include "dispatch/device/wait.hpp"
#include "dispatch/queue/packet_queue.hpp"
#include "dispatch/trace/host_span.hpp"

namespace fastdispatch {

void Submission::wait(WaitOptions options) const { queue_->wait(epoch_, options); }
bool Submission::done() const { return queue_->done(epoch_); }

void Submission::on_complete(CompletionCallback callback) const {
  if (!callback) throw Error("a callback on completion that is empty");
  detail::PacketQueue& queue = *queue_;
  queue.cover(epoch_);
  detail::state_of(queue.agent()).completions.add(queue, epoch_, std::move(callback));
}

namespace detail {

// The common part of wait_any and wait_all.
class Group {
public:
  Group(std::span<const Submission> submissions, const WaitOptions& options)
      : submissions_(submissions), options_(options), deadline_(options.timeout) {
    for (const Submission& one : submissions) static_cast<void>(*one.queue_);  // throws if the queue was destroyed
  }

  /// The index of the first submission that completed; if no submission completed, their number.
  [[nodiscard]] std::size_t first_completed() const noexcept {
    const auto completed = [](const Submission& one) { return one.queue_->completed(one.epoch_); };
    const auto first = std::find_if(submissions_.begin(), submissions_.end(), completed);
    return static_cast<std::size_t>(first - submissions_.begin());
  }
  [[nodiscard]] bool any_completed() const noexcept { return first_completed() != submissions_.size(); }

  /// Throws if a submission did not complete and its queue failed. Submits a barrier packet where a submission needs
  /// one.
  void check() const {
    for (const Submission& one : submissions_) static_cast<void>(one.done());
  }

  /// Waits until each submission has a packet in the ring that completes it, or until `enough()`. A barrier packet may
  /// have no room yet.
  template <class Enough>
  void wait_until_covered(Enough enough) const {
    const auto covered = [](const Submission& one) { return one.queue_->covers(one.epoch_); };
    for (Backoff backoff; !enough(); backoff()) {
      check();
      if (std::all_of(submissions_.begin(), submissions_.end(), covered)) return;
      if (backoff.slow() && deadline_.passed()) time_is_up();
    }
  }

  /// False when the time is up.
  [[nodiscard]] bool wait_for(const Submission& one) const {
    PacketQueue& queue = *one.queue_;
    const auto block = [&](std::chrono::nanoseconds time) { queue.block(one.epoch_, time); };
    return detail::wait_for(queue.completion_of(one.epoch_), rest(), block, [this] { check(); });
  }
  /// Waits until one submission completed; false when the time is up.
  [[nodiscard]] bool wait_for_any() const {
    std::vector<QueueGoal> goals;
    for (const Submission& one : submissions_)
      goals.push_back({.queue = &one.queue_->blocked_wait(), .goal = one.queue_->completion_of(one.epoch_)});
    AgentState& agent = state_of(submissions_.front().queue_->agent());
    const auto block = [&](std::chrono::nanoseconds time) { block_for_first(agent, goals, time); };
    const auto check_others = [this] {
      if (!any_completed()) check();
    };
    return detail::wait_for([this] { return any_completed(); }, rest(), block, check_others);
  }

  [[noreturn]] void time_is_up() const {
    std::string text;
    for (std::size_t i = 0; i != submissions_.size(); ++i) {
      const Submission& one = submissions_[i];
      if (!one.queue_->completed(one.epoch_)) text += fmt::format("; submission {}: {}", i, one.queue_->describe());
    }
    throw TimeoutError(fmt::format("waiting for {} submissions: not complete within {}{}", submissions_.size(),
                                   in_words(options_.timeout), text));
  }

private:
  [[nodiscard]] WaitOptions rest() const noexcept {
    return {.policy = options_.policy, .timeout = std::min(options_.timeout, deadline_.left())};
  }

  std::span<const Submission> submissions_;
  WaitOptions options_;
  Deadline deadline_;
};

}  // namespace detail

std::size_t wait_any(std::span<const Submission> submissions, WaitOptions options) {
  if (submissions.empty()) throw Error("waiting for any of no submissions would never end");
  const detail::HostSpan span("wait", "wait for any submission", {"submissions", submissions.size()});
  const detail::Group group(submissions, options);
  group.wait_until_covered([&] { return group.any_completed(); });
  if (!group.wait_for_any()) group.time_is_up();
  return group.first_completed();
}

void wait_all(std::span<const Submission> submissions, WaitOptions options) {
  if (submissions.empty()) return;
  const detail::HostSpan span("wait", "wait for all submissions", {"submissions", submissions.size()});
  const detail::Group group(submissions, options);
  group.wait_until_covered([] { return false; });
  for (const Submission& one : submissions)
    if (!group.wait_for(one)) group.time_is_up();
}

}  // namespace fastdispatch
