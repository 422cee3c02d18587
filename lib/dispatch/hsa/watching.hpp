// Who watches submissions: the log of packets, or a trace.
//
// Purpose: the submit path looks at one word, once a submission, and goes another way if somebody watches.
//
// Thread safety: every function may be called from any thread.
#pragma once

#include <atomic>

namespace fastdispatch::detail {

enum class Watcher : unsigned {
  log = 1,    ///< FASTDISPATCH_LOG=packets
  trace = 2,  ///< a Trace is recorded
};

[[gnu::visibility("hidden")]] inline constinit std::atomic<unsigned> watchers{0};

[[nodiscard]] inline bool is_watched() noexcept { return watchers.load(std::memory_order_relaxed) != 0; }
/// Acquires what the watcher was given before it began.
[[nodiscard]] inline bool is_watched_by(Watcher watcher) noexcept {
  return (watchers.load(std::memory_order_acquire) & static_cast<unsigned>(watcher)) != 0;
}
inline void begin_watching(Watcher watcher) noexcept {
  watchers.fetch_or(static_cast<unsigned>(watcher), std::memory_order_release);
}
inline void end_watching(Watcher watcher) noexcept {
  watchers.fetch_and(~static_cast<unsigned>(watcher), std::memory_order_release);
}

/// For functions of the submit path that are made twice.
enum class Watched { no, yes };

}  // namespace fastdispatch::detail
