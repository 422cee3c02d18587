#include "dispatch_suite.hpp"

#include "cores.hpp"
#include "instruction_counts.hpp"
#include "measurements.hpp"
#include "report.hpp"

#include <empty_code_object.hpp>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

namespace names = dispatch_series;

Group host_time() {
  const std::string sort = std::to_string(names::sort_length);
  Group group{"Host time a packet, ns", 1000, {}};
  group.lines.push_back({"memcpy of " + sort + " lines, and a doorbell", names::floor_of(names::sort_length)});
  group.lines.push_back({"the same by non-temporal stores", names::streamed});
  for (const std::size_t packets : names::batch_lengths)
    group.lines.push_back({"batch of " + std::to_string(packets) + ", replayed", names::replay_of(packets)});
  group.lines.push_back({"batch of " + sort + ", several producers allowed", names::replay_shared});
  group.lines.push_back({"batch of " + sort + ", a parameter in each", names::replay_parameters});
  group.lines.push_back({"the same, kernel arguments in device memory", names::replay_device_parameters});
  group.lines.push_back({"batch of " + sort + ", recorded anew", names::fresh_batch});
  group.lines.push_back({"one at a time, Queue::dispatch", names::dispatches});
  group.lines.push_back({"the same, kernel arguments in device memory", names::device_dispatches});
  group.lines.push_back({"one at a time, HSA API, no wait", names::bare});
  group.lines.push_back({"one at a time, HSA API, the article's loop", names::article});
  group.lines.push_back({"one at a time, hipModuleLaunchKernel", names::hip_launches});
  group.lines.push_back({"graph of " + sort + ", hipGraphLaunch", names::hip_graph});
  return group;
}

// One line for each of `counts`, whose series `name` tells.
template <class Counts, class Name>
Group by_count(std::string title, const Counts& counts, const std::string& what, Name name) {
  Group group{std::move(title), 1000, {}};
  for (const std::size_t count : counts)
    group.lines.push_back({std::to_string(count) + " " + what + (count == 1 ? "" : "s"), name(count)});
  return group;
}

std::vector<Group> groups() {
  const std::string sort = std::to_string(names::sort_length);
  return {{"Rings in plain memory that a thread reads, host time a packet, ns",
           1000,
           {{"memcpy of " + sort + " lines, and a doorbell", names::drained_memcpy},
            {"batch of " + sort + ", replayed", names::drained_replay}}},
          host_time(),
          by_count("memcpy into a ring that a thread reads, and a doorbell, ns a line", names::batch_lengths, "line",
                   names::floor_of),
          {"Round trip of an empty kernel, us",
           1,
           {{"two threads, by a cache line each", names::thread_round_trip},
            {"HSA API", series::round_trip_bare},
            {"Queue::dispatch", series::round_trip_dispatch},
            {"batch of 1, replayed", series::round_trip_replay}}},
          by_count("Batches of 16 replayed to one queue, ns a packet until published", names::producer_counts,
                   "producer", names::published_by),
          by_count("The same until all kernels completed", names::producer_counts, "producer", names::completed_of),
          by_count("Host time a packet of replayed batches with many in flight, ns", names::in_flight_levels, "packet",
                   names::replays_behind),
          by_count("Host time a packet of Queue::dispatch with many in flight, ns", names::in_flight_levels, "packet",
                   names::dispatches_behind)};
}

void print_targets(const Samples& samples) {
  std::cout << "\nTargets\n";
  const double replay = samples.median(names::replay_of(names::sort_length));
  print_target("a replayed packet costs at most 2 times its memcpy",
               samples.median(names::drained_memcpy) / samples.median(names::drained_replay), 0.5);
  print_target("a replayed packet costs at most a tenth of one through the HSA API, nothing allocated, no wait",
               samples.median(names::bare) / replay, 10);
  print_target("a replayed packet costs at most a tenth of one in the article's loop",
               samples.median(names::article) / replay, 10);
  if (!samples.has(names::hip_graph)) return;
  print_target("a replayed packet costs at most a fifth of a node of hipGraphLaunch",
               samples.median(names::hip_graph) / replay, 5);
  print_target("a replayed packet costs at most a 50th of hipModuleLaunchKernel",
               samples.median(names::hip_launches) / replay, 50);
}

}  // namespace

void run_dispatch_suite(int rounds, const std::string& json) {
  JsonFile file(json);
  start_threads_on_other_cores();
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  stay_on_first_core();
  const std::unique_ptr<HipPeer> hip = HipPeer::open(code_objects::empty(), names::sort_length);
  Samples samples;
  for (int round = 0; round < rounds; ++round) {
    measure_drained_rings(samples);
    measure_host_cost(runtime, gpu, hip.get(), samples);
    measure_dispatch(runtime, gpu, samples);
    measure_thread_round_trip(samples);
    measure_producers(gpu, samples);
    measure_in_flight(gpu, samples);
  }
  std::cout << "On " << gpu.name() << (runtime.on_softgpu() ? " (soft GPU)" : "") << "; medians of " << rounds
            << " rounds\n";
  print(groups(), samples);
  const nlohmann::ordered_json instructions = count_instructions();
  print_targets(samples);
  file.write(gpu.name(), groups(), samples, {{"instructions", instructions}});
}
