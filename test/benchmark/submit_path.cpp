// The submit path by itself, for callgrind to count its instructions: a queue in plain memory, drained by a plain
// thread. Only `counted_submissions` is counted. The thread drains the ring in between, so that submissions never wait
// for room, and every run executes the same instructions.
//
// usage: submit_path CASE. Prints how many packets were submitted while it counted.
#include "mock_hsa.hpp"
#include "standard_output.hpp"

#include "fastdispatch/batch.hpp"
#include "fastdispatch/queue.hpp"

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>

namespace fd = fastdispatch;
using fd::test::MockHsa;

extern "C" [[gnu::noinline]] void counted_submissions(const std::function<void()>& submit, int times) {
  for (int i = 0; i < times; ++i) submit();
}

namespace {

constexpr std::uint32_t ring_size = 4096;
constexpr std::size_t packets_a_round = 1920;
constexpr int rounds = 10;
constexpr fd::Grid grid = fd::grid(64).group(64);

class SubmitPath {
public:
  explicit SubmitPath(fd::Producers producers) : queue_(hsa_.agent(), {.size = ring_size, .producers = producers}) {}

  std::size_t replay(std::size_t packets) {
    fd::Batch batch(hsa_.agent());
    record(batch, packets);
    return count(packets, [&] { queue_.submit(batch); });
  }
  std::size_t replay_with_parameters(std::size_t packets) {
    fd::Batch batch(hsa_.agent());
    const auto value = batch.parameter<std::uint32_t>();
    for (std::size_t i = 0; i < packets; ++i) batch.dispatch(kernel_, grid, nullptr, value, 0U, 1U);
    return count(packets, [&] { queue_.submit(batch, fd::set(value, 7)); });
  }
  std::size_t record_anew(std::size_t packets) {
    return count(packets, [&] {
      fd::Batch batch(hsa_.agent());
      record(batch, packets);
      queue_.submit(batch);
    });
  }
  std::size_t dispatch() {
    return count(1, [&] { queue_.dispatch(kernel_, grid, nullptr, 0U, 0U, 1U); });
  }

private:
  using Kernel = fd::Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>;

  void record(fd::Batch& batch, std::size_t packets) {
    for (std::size_t i = 0; i < packets; ++i) batch.dispatch(kernel_, grid, nullptr, 0U, 0U, 1U);
  }

  std::size_t count(std::size_t packets, const std::function<void()>& submit) {
    const auto times = static_cast<int>(packets_a_round / packets);
    submit();  // encodes the batch
    drain();
    for (int warm_up = 0; warm_up < 2; ++warm_up) {
      for (int i = 0; i < times; ++i) submit();
      drain();
    }
    for (int round = 0; round < rounds; ++round) {
      counted_submissions(submit, times);
      drain();
    }
    return static_cast<std::size_t>(rounds * times) * packets;
  }

  void drain() {
    std::jthread([this] { MockHsa::complete(hsa_.queue()); }).join();
  }

  MockHsa hsa_;
  fd::Queue queue_;
  const fd::detail::KernelInfo info_{.name = "kernel",
                                     .object = 0x1000,
                                     .kernarg_size = 24,
                                     .max_group_size = 1024,
                                     .max_group_segment_size = 65536,
                                     .arguments = {{0, 8}, {8, 4}, {12, 4}, {16, 4}},
                                     .implicit_arguments = {}};
  const Kernel kernel_{info_};
};

const std::map<std::string, std::function<std::size_t()>> cases = {
    {"replay-1", [] { return SubmitPath(fd::Producers::single).replay(1); }},
    {"replay-16", [] { return SubmitPath(fd::Producers::single).replay(16); }},
    {"replay-120", [] { return SubmitPath(fd::Producers::single).replay(120); }},
    {"replay-120-multiple-producers", [] { return SubmitPath(fd::Producers::multiple).replay(120); }},
    {"parameters-120", [] { return SubmitPath(fd::Producers::single).replay_with_parameters(120); }},
    {"recorded-anew-120", [] { return SubmitPath(fd::Producers::single).record_anew(120); }},
    {"dispatch", [] { return SubmitPath(fd::Producers::single).dispatch(); }},
    {"dispatch-multiple-producers", [] { return SubmitPath(fd::Producers::multiple).dispatch(); }},
};

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("submit_path");
  const auto chosen = argc == 2 ? cases.find(argv[1]) : cases.end();
  if (chosen == cases.end()) {
    std::cerr << "usage: submit_path CASE, one of:";
    for (const auto& [name, run] : cases) std::cerr << ' ' << name;
    std::cerr << '\n';
    return 2;
  }
  std::cout << chosen->second() << '\n';
  return EXIT_SUCCESS;
}
