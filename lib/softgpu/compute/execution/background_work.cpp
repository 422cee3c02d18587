#include "softgpu/compute/execution/background_work.hpp"

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

constexpr std::chrono::seconds longest_wait{2};

}  // namespace

struct BackgroundWork::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool is_running = false;  ///< the thread
  std::thread::id thread;
  bool stops = false;

  void work() {
    pthread_setname_np(pthread_self(), "softgpu-later");
    std::unique_lock lock(mutex);
    thread = std::this_thread::get_id();
    while (true) {
      changed.wait(lock, [&] { return stops || !jobs.empty(); });
      if (stops) break;
      std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      job = nullptr;
      lock.lock();
    }
    is_running = false;
    changed.notify_all();
  }
};

BackgroundWork::BackgroundWork() : state_(std::make_shared<State>()) {}
BackgroundWork::~BackgroundWork() { stop(); }

void BackgroundWork::add(std::function<void()> job) noexcept try {
  const std::lock_guard lock(state_->mutex);
  if (state_->stops) return;
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
  state_->stops = true;
  state_->jobs.clear();
  state_->changed.notify_all();
  if (state_->thread == std::this_thread::get_id()) return;  // the job owned the last of what it works for
  state_->changed.wait_for(lock, longest_wait, [&] { return !state_->is_running; });
}

}  // namespace softgpu::compute
