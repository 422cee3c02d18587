// A child after fork uses what its parent made with the GPU: each use is an Error that says why, and the child may
// return from main. The parent goes on.
#include <cstdio>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "fastdispatch/fastdispatch.hpp"

namespace fd = fastdispatch;

namespace {

constexpr int refused = 3;

/// What the child returns from main.
int outcome_of(const std::function<void()>& use) {
  try {
    use();
    return 0;
  } catch (const fd::Error& error) {
    const std::string_view text = error.what();
    if (text.find("this process was forked from one that used the GPU") != std::string_view::npos) return refused;
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

int exit_code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main() {
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  fd::Queue queue(gpu);
  fd::Queue other(gpu);
  fd::Signal signal(gpu);
  fd::SignalPool signals(gpu, 2);
  fd::DeviceBuffer<int> on_device(gpu, 1000);
  fd::PinnedBuffer<int> pinned(gpu, 1000);
  std::vector<int> pageable(1000);
  fd::Batch batch(gpu);
  batch.copy(on_device, pinned);
  fd::Streams streams(gpu, {.queues = 2});
  streams.submit(batch).wait();
  queue.submit(batch).wait();
  other.start_after(queue.barrier());
  const fd::Submission submission = queue.barrier();
  submission.on_complete([](const fd::Error*) {});  // starts a thread, which no child has
  submission.wait();

  const std::vector<std::pair<const char*, std::function<void()>>> uses = {
      {"nothing", [] {}},
      {"submit", [&] { queue.submit(batch); }},
      {"submit to streams", [&] { streams.submit(batch); }},
      {"barrier", [&] { queue.barrier(); }},
      {"wait for a queue", [&] { queue.wait(); }},
      {"start after another queue", [&] { other.start_after(submission); }},
      {"record", [&] { batch.copy(on_device, pinned); }},
      {"wait for a signal", [&] { signal.wait(); }},
      {"set a signal", [&] { signal.store(0); }},
      {"a pooled signal", [&] { static_cast<void>(signals.acquire()->handle()); }},
      {"a new queue", [&] { const fd::Queue third(gpu); }},
      {"a new buffer", [&] { const fd::DeviceBuffer<int> third(gpu, 1000); }},
      {"a copy", [&] { fd::copy(std::span(pageable), on_device); }},
      {"a new runtime", [] { const fd::Runtime again; }},
  };
  for (const auto& [what, use] : uses) {
    const pid_t child = fork();
    if (child == 0) return outcome_of(use);
    const int expected = what == std::string_view("nothing") ? 0 : refused;
    if (const int code = exit_code_of(child); code != expected) {
      std::fprintf(stderr, "%s: the child ended with %d\n", what, code);
      return 1;
    }
    queue.submit(batch).wait();
  }
  return 0;
}
