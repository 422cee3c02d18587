// Why a queue failed.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "dispatch/queue/copy_watch.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

class SharedFate;

/// Thread safety: every member may be called from any thread, HSA's own threads among them.
class QueueFailure {
public:
  /// `fate` is null or outlives this.
  QueueFailure(Agent agent, SharedFate* fate) noexcept : agent_(agent), fate_(fate) {}
  QueueFailure(const QueueFailure&) = delete;
  QueueFailure& operator=(const QueueFailure&) = delete;

  /// Joins and leaves the queues that share the fate.
  void join() noexcept;
  void leave() noexcept;

  /// Records `error` unless the queue has failed before. The queues that share the fate fail, too.
  void fail(const Error& error) noexcept;
  /// The same for this queue alone.
  void fail_alone(const Error& error) noexcept;

  /// Null if the queue did not fail.
  [[nodiscard]] const Error* reason() const noexcept {
    return failed_.load(std::memory_order_acquire) ? &*error_ : nullptr;
  }
  void throw_if_failed() const {
    if (failed_.load(std::memory_order_acquire)) [[unlikely]]
      throw Error(*error_);
  }

  /// The copies of the queue's batches.
  [[nodiscard]] CopyWatch& copies() noexcept { return copies_; }
  /// Lets the queue fail if one of its copies failed, or a copy of a queue that shares its fate. Nothing else tells
  /// that a copy failed: waiters have to look. Returns whether there are any copies.
  bool look_at_copies() noexcept;

private:
  Agent agent_;
  SharedFate* fate_;
  CopyWatch copies_;
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::optional<Error> error_;  ///< written once, before failed_ is set
};

}  // namespace fastdispatch::detail
