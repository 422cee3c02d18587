#include "softgpu/compute/execution/background_work.hpp"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <pthread.h>

namespace softgpu::compute {
namespace {

/// A job may need a lock that the thread which waits for it holds: the dynamic linker's, in a destructor at dlclose().
constexpr std::chrono::minutes longest_wait{1};

}  // namespace

struct BackgroundWork::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Job> jobs;
  bool is_running = false;  ///< the thread
  std::thread::id thread;
  std::stop_source stops;

  void work() {
    pthread_setname_np(pthread_self(), "softgpu-later");
    std::unique_lock lock(mutex);
    thread = std::this_thread::get_id();
    while (true) {
      changed.wait(lock, [&] { return stops.stop_requested() || !jobs.empty(); });
      if (stops.stop_requested()) break;
      Job job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job(stops.get_token());
      job = nullptr;
      lock.lock();
    }
    is_running = false;
    changed.notify_all();
  }
};

BackgroundWork::BackgroundWork() : state_(std::make_shared<State>()) {}
BackgroundWork::~BackgroundWork() { stop(); }

void BackgroundWork::add(Job job) noexcept try {
  const std::lock_guard lock(state_->mutex);
  if (state_->stops.stop_requested()) return;
  if (!state_->is_running) {
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const auto restore = [&] { pthread_sigmask(SIG_SETMASK, &before, nullptr); };
    try {
      std::thread([state = state_] { state->work(); }).detach();
    } catch (...) {
      restore();
      throw;
    }
    restore();
    state_->is_running = true;
  }
  state_->jobs.push_back(std::move(job));
  state_->changed.notify_all();
} catch (const std::exception&) {  // no thread, or no memory
}

void BackgroundWork::stop() noexcept {
  std::unique_lock lock(state_->mutex);
  state_->stops.request_stop();
  state_->jobs.clear();
  state_->changed.notify_all();
  if (state_->thread == std::this_thread::get_id()) return;  // the job owned the last of what it works for
  state_->changed.wait_for(lock, longest_wait, [&] { return !state_->is_running; });
}

}  // namespace softgpu::compute
