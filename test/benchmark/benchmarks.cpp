// The library's costs, compared with the bare HSA API, the host alone, and OpenCL: everything in one run, in turns, so
// that ratios are meaningful on a shared machine, too. `benchmarks dispatch` looks at the submit path alone,
// `benchmarks copies` at copies of pageable memory, `benchmarks softgpu` at the soft GPU beside OpenCL,
// `benchmarks streams` at batches spread over several queues, `benchmarks kernels` at kernels of many fields on the
// soft GPU and on OpenCL.
#include "command_line.hpp"
#include "copy_measurements.hpp"
#include "dispatch_suite.hpp"
#include "kernel_suite.hpp"
#include "measurements.hpp"
#include "report.hpp"
#include "softgpu_suite.hpp"
#include "standard_output.hpp"
#include "stream_suite.hpp"
#include "workload_suite.hpp"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

namespace fd = fastdispatch;

namespace {

const std::vector<Group>& groups() {
  static const std::vector<Group> all = {
      {"Host time a packet, ns",
       1000,
       {{"one at a time, HSA API, no wait", series::host_bare},
        {"one at a time, HSA API, the article's loop", series::host_article},
        {"one at a time, Queue::dispatch", series::host_dispatch},
        {"batch of 256, replayed", series::host_replay}}},
      {"Empty kernels in a row, us each until all completed",
       1,
       {{"one at a time, HSA API, one wait", series::throughput_bare},
        {"one at a time, HSA API, the article's loop", series::throughput_article},
        {"one at a time, Queue::dispatch", series::throughput_dispatch},
        {"batch of 256, replayed", series::throughput_replay},
        {"OpenCL", series::throughput_opencl}}},
      {"Round trip of an empty kernel, us",
       1,
       {{"HSA API", series::round_trip_bare},
        {"Queue::dispatch", series::round_trip_dispatch},
        {"batch of 1, replayed", series::round_trip_replay},
        {"OpenCL", series::round_trip_opencl}}},
      {"Bitonic sort of 32768 integers with both copies, us",
       1,
       {{"std::sort on the host", series::sort_host},
        {"batch, replayed", series::sort_replay},
        {"OpenCL, one finish", series::sort_opencl},
        {"OpenCL, a finish after each launch", series::sort_opencl_finish_each}}},
  };
  return all;
}

void print_targets(const Samples& samples) {
  std::cout << "\nTargets\n";
  if (!samples.has(series::sort_opencl)) {
    std::cout << "  none measured: there is no OpenCL to compare with\n";
    return;
  }
  print_target("the batched sort takes no longer than OpenCL's with one finish",
               samples.median(series::sort_opencl) / samples.median(series::sort_replay), 1);
  print_target("an empty round trip is at least 10 times shorter than OpenCL's",
               samples.median(series::round_trip_opencl) / samples.median(series::round_trip_dispatch), 10);
}

void run(int rounds, const std::string& json) {
  JsonFile file(json);
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  Samples samples;
  std::optional<std::string> opencl;
  for (int round = 0; round < rounds; ++round) {
    // Queues live only within these calls: an idle one must not take processor time from the peer.
    measure_dispatch(runtime, gpu, samples);
    measure_sort(gpu, samples);
    if (round == 0 || opencl) opencl = measure_opencl(samples);
  }

  std::cout << "On " << gpu.name() << (runtime.on_softgpu() ? " (soft GPU)" : "") << ", beside "
            << opencl.value_or("no OpenCL") << "; medians of " << rounds << " rounds\n";
  print(groups(), samples);
  print_targets(samples);
  file.write(gpu.name(), groups(), samples);
}

}  // namespace

int main(int argc, char** argv) {
  guard_standard_output("benchmarks");
  ::setenv("SOFTGPU_OPTIMIZE", "1", /*overwrite=*/0);  // from the first run on
#ifdef SOFTGPU_LIBRARY
  // The library looks for it beside itself; here the library is part of this program.
  ::setenv("FASTDISPATCH_SOFTGPU", SOFTGPU_LIBRARY, /*overwrite=*/0);
#endif
  try {
    CommandLine line("Measures dispatches and the bitonic sort.", "benchmarks");
    std::uint32_t rounds = 5;
    std::string json, only;
    line.option("--rounds", &rounds, "How often everything is measured in turn (5)").between(1, 1000);
    line.option("--json", &json, "Write the medians to this file");
    line.option("--only", &only, "'kernels': those whose names have this text in them");
    bool copies = false;
    bool dispatch = false;
    bool softgpu = false;
    bool kernels = false;
    bool streams = false;
    bool workloads = false;
    line.command("copies", copies, "Measures copies of pageable memory");
    line.command("dispatch", dispatch, "Measures the submit path");
    line.command("kernels", kernels, "Measures kernels on the soft GPU beside OpenCL");
    line.command("softgpu", softgpu, "Measures the soft GPU beside OpenCL");
    line.command("streams", streams, "Measures chains over several queues");
    line.command("workloads", workloads, "Measures the example programs");
    line.parse_or_exit(argc, argv);
    if (dispatch)
      run_dispatch_suite(rounds, json);
    else if (kernels)
      run_kernel_suite(rounds, only, json);
    else if (softgpu)
      run_softgpu_suite(rounds, json);
    else if (workloads)
      run_workload_suite(rounds, json);
    else if (streams)
      run_stream_suite(rounds, json);
    else if (copies)
      run_copy_suite(rounds, json);
    else
      run(rounds, json);
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::cerr << "benchmarks: " << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
