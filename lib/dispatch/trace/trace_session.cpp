#include "dispatch/trace/trace_session.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <utility>

#include <pthread.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include "dispatch/hsa/log.hpp"
#include "dispatch/hsa/watching.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {

namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds clock_lasts{1};  // until the two clocks are compared again
constexpr int host_process = 1;                 // GPUs have the numbers behind it

std::string name_of_this_thread() {
  std::array<char, 64> name{};  // Linux has at most 15 characters
  pthread_getname_np(pthread_self(), name.data(), name.size());
  return fmt::format("thread {}", name.data());
}

[[noreturn]] void throw_write_error(const std::filesystem::path& path, std::string_view why) {
  throw Error(ErrorKind::runtime,
              fmt::format("the trace '{}' could not be written to its end: {}", path.string(), why));
}

}  // namespace

TraceSession& TraceSession::instance() {
  // Never destroyed: threads may still submit while the process exits.
  static auto& session = *new TraceSession;
  return session;
}

std::uint64_t TraceSession::start(const std::filesystem::path& file, std::string_view name) {
  const std::scoped_lock lock(mutex_);
  if (file_)
    throw Error(fmt::format("a trace to '{}' cannot be started: one is being recorded to '{}'; a process records one "
                            "trace at a time",
                            file.string(), file_->path().string()));
  try {
    file_.emplace(file, name);
  } catch (const std::runtime_error& error) {
    throw Error(
        fmt::format("the trace cannot be written to '{}': {}; name a file in a folder that this user may write to",
                    file.string(), error.what()));
  }
  process_ = getpid();
  gpus_.clear();
  tracks_ = 0;
  clock_ = {};
  start_.store(steady_clock::now(), std::memory_order_relaxed);
  const std::uint64_t number = number_.fetch_add(1, std::memory_order_acq_rel) + 1;
  file_->add(TraceEvent::process_name(host_process, fmt::format("{} (host)", name)).text());
  static const bool registered = (end_at_exit(), true);
  static_cast<void>(registered);
  begin_watching(Watcher::trace);
  log().info("recording a trace to {}", file.string());
  return number;
}

void TraceSession::start_from_environment() {
  static std::mutex once;
  static bool started = false;
  const std::scoped_lock lock(once);
  const char* file = secure_getenv("FASTDISPATCH_TRACE");
  if (started || file == nullptr || *file == '\0') return;
  try {
    start(file, program_invocation_short_name);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("FASTDISPATCH_TRACE is '{}': {}", file, error.what()));
  }
  started = true;
}

void TraceSession::end_at_exit() {
  std::atexit([] { instance().end_with_process(); });
}

void TraceSession::end_with_process() noexcept {
  try {
    if (process_ == getpid()) stop(number());  // in a child somebody may hold the locks for ever
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fastdispatch: %s\n", error.what());
  }
}

void TraceSession::flush(std::uint64_t number) {
  if (number != this->number()) return;
  collect_all();
  const std::scoped_lock lock(mutex_);
  if (!file_) return;
  file_->flush();
  if (const std::string failure = file_->failure(); !failure.empty()) throw_write_error(file_->path(), failure);
}

void TraceSession::flush_quietly() noexcept {
  collect_all();
  const std::scoped_lock lock(mutex_);
  if (file_) file_->flush();
}

void TraceSession::stop(std::uint64_t number) {
  if (number != this->number()) return;
  end_watching(Watcher::trace);
  collect_all();
  const std::scoped_lock lock(mutex_);
  if (!file_) return;
  file_->flush();
  const std::filesystem::path path = file_->path();
  const std::string failure = file_->failure();
  file_.reset();
  if (!failure.empty()) throw_write_error(path, failure);
}

void TraceSession::add(TraceSource& source) {
  const std::scoped_lock lock(sources_mutex_);
  sources_.push_back(&source);
}

void TraceSession::remove(TraceSource& source) noexcept {
  const std::scoped_lock lock(sources_mutex_);
  std::erase(sources_, &source);
}

void TraceSession::collect_all() noexcept {
  const std::scoped_lock lock(sources_mutex_);
  for (TraceSource* source : sources_) source->collect();
}

TraceTime TraceSession::since_start(steady_clock::time_point time) const noexcept {
  return time - start_.load(std::memory_order_relaxed);
}

DeviceClock TraceSession::clock(const HsaApi& api, std::uint64_t ticks_a_second) {
  const std::scoped_lock lock(mutex_);
  const auto now = steady_clock::now();
  if (clock_.ticks == 0 || now - clock_compared_ > clock_lasts) {
    const DeviceClock fresh = DeviceClock::read(api, ticks_a_second);
    if (clock_.ticks == 0 || !clock_.agrees_with(fresh)) clock_ = fresh;
    clock_compared_ = now;
  }
  return clock_;
}

Track TraceSession::this_thread() {
  thread_local std::uint64_t named_in = 0;
  const Track track{.process = host_process, .thread = gettid()};
  if (std::exchange(named_in, number()) != number()) write(TraceEvent::thread_name(track, name_of_this_thread()));
  return track;
}

Track TraceSession::new_track(hsa_agent_t gpu, std::string_view gpu_name, std::string_view track_name, int order) {
  Track track;
  bool is_new = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto [entry, added] = gpus_.try_emplace(gpu.handle, host_process + 1 + static_cast<int>(gpus_.size()));
    is_new = added;
    track = {.process = entry->second, .thread = ++tracks_};
  }
  if (is_new)
    write(
        TraceEvent::process_name(track.process, fmt::format("GPU {}: {}", track.process - host_process - 1, gpu_name)));
  write(TraceEvent::thread_name(track, track_name));
  write(TraceEvent::sort_index(track, order));
  return track;
}

void TraceSession::write(TraceEvent event) noexcept {
  try {
    const std::string text = std::move(event).text();
    const std::scoped_lock lock(mutex_);
    if (file_) file_->add(text);
  } catch (const std::bad_alloc&) {  // the trace has an event less
  }
}

}  // namespace fastdispatch::detail
