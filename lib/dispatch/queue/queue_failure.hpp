// Why a queue failed, and which other queues fail with it.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "dispatch/queue/copy_watch.hpp"
#include "dispatch/queue/epoch_signal.hpp"
#include "fastdispatch/agent.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

class QueueFailure;
class SharedFate;

/// That packets of one queue, the follower, wait for epochs of another one, the leader. Epochs complete in order, so
/// the latest wait covers the earlier ones.
class PeerWait {
public:
  /// The leader lives when this is made. Queues that share their fate need not know of it.
  PeerWait(QueueFailure& leader, EpochSignal epochs, QueueFailure& follower);
  ~PeerWait();
  PeerWait(const PeerWait&) = delete;
  PeerWait& operator=(const PeerWait&) = delete;

  /// The follower now waits for `epoch`. It fails if the leader has failed meanwhile.
  void extend_to(std::uint64_t epoch) noexcept;

  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_.load(); }
  [[nodiscard]] bool is_open() const noexcept { return epochs_.completed() < epoch(); }
  /// Null once the leader was destroyed.
  [[nodiscard]] QueueFailure* leader() const noexcept { return leader_.load(); }

private:
  friend class QueueFailure;

  std::atomic<QueueFailure*> leader_;
  const bool linked_;  ///< the leader knows of this while it lives
  QueueFailure& follower_;
  EpochSignal epochs_;                   ///< the leader's
  std::atomic<std::uint64_t> epoch_{0};  ///< of the latest wait
};

/// A queue fails together with those that share its fate. Those that wait for one of its epochs fail with it, too:
/// their next packets would never start.
///
/// Thread safety: every member may be called from any thread, HSA's own threads among them.
class QueueFailure {
public:
  /// `fate` is null or outlives this.
  QueueFailure(Agent agent, SharedFate* fate) noexcept : agent_(agent), fate_(fate) {}
  QueueFailure(const QueueFailure&) = delete;
  QueueFailure& operator=(const QueueFailure&) = delete;

  [[nodiscard]] bool shares_fate_with(const QueueFailure& other) const noexcept {
    return fate_ != nullptr && fate_ == other.fate_;
  }

  /// Joins and leaves the queues that share the fate.
  void join() noexcept;
  void leave() noexcept;
  /// To be called when the HSA queue is gone: queues that wait for an epoch that did not complete fail.
  void abandon_followers() noexcept;

  /// Records `error` unless the queue has failed before.
  void fail(const Error& error) noexcept;

  /// Null if the queue did not fail.
  [[nodiscard]] const Error* reason() const noexcept { return failed_.load() ? &*error_ : nullptr; }
  /// Before it throws, the copies of the queue, and of the queues that share its fate, have ended: the caller may free
  /// their memory.
  void throw_if_failed() const {
    if (failed_.load(std::memory_order_acquire)) [[unlikely]]
      throw_reason();
  }

  /// The copies of the queue's batches.
  [[nodiscard]] CopyWatch& copies() noexcept { return copies_; }
  /// Lets the queue fail if one of its copies failed, or a copy of a queue with which it fails. Nothing else tells that
  /// a copy failed: waiters have to look. Returns whether there may be any copies.
  bool look_at_copies() noexcept;

private:
  friend class PeerWait;
  friend class SharedFate;

  // Called with the lock of all failures held:
  void fail_locked(const Error& error) noexcept;
  bool look_locked() noexcept;

  [[noreturn]] void throw_reason() const;

  Agent agent_;
  SharedFate* fate_;
  CopyWatch copies_;
  std::atomic<bool> failed_{false};
  std::atomic<bool> follows_{false};  ///< whether there are leaders
  std::optional<Error> error_;        ///< written once, before failed_ is set
  bool looking_ = false;              ///< a look got here already: queues may wait for one another
  std::vector<PeerWait*> leaders_;    ///< this queue's waits for others that live
  std::vector<PeerWait*> followers_;  ///< others' waits for this queue
};

}  // namespace fastdispatch::detail
