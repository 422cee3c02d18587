// Sorts integers with a bitonic network on the GPU, and shows what dispatching its many short kernels costs.
//
// A network for 2^n values is n * (n + 1) / 2 passes that wait for one another: 120 kernels of a few microseconds for
// 32768 values. So dispatching the kernels takes as much time as running them. The baseline dispatches as most programs
// do at first. Each flag removes one of its costs, and --ablation prints the gain of each flag.
#include "number_file.hpp"
#include "options.hpp"
#include "output_file.hpp"
#include "plot.hpp"
#include "program.hpp"
#include "report.hpp"
#include "timing.hpp"

#include <bitonic_sort_code_object.hpp>
#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace fd = fastdispatch;

namespace {

// The signature of the kernel in kernels/bitonic_sort.hip. The library compares it with the code object when the kernel
// is looked up.
using BitonicPass = void(std::uint32_t* data, std::uint32_t stage, std::uint32_t step, std::uint32_t order);

struct Pass {
  std::uint32_t stage;
  std::uint32_t step;
};

std::vector<Pass> passes_for(std::size_t length) {
  std::vector<Pass> passes;
  const auto stages = static_cast<std::uint32_t>(std::countr_zero(length));
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    for (std::uint32_t step = stage + 1; step-- > 0;) passes.push_back({stage, step});
  }
  return passes;
}

// Objects that are set up once, for every way to dispatch the passes.
struct Network {
  Network(fd::Agent agent, std::size_t length, Order direction)
      : gpu(agent), module(fd::Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort")),
        kernel(module.kernel<BitonicPass>("bitonic_pass")), queue(gpu), data(gpu, length), passes(passes_for(length)),
        grid(fd::grid(static_cast<std::uint32_t>(length / 2))), order(static_cast<std::uint32_t>(direction)) {}

  fd::Agent gpu;
  fd::Module module;
  fd::Kernel<BitonicPass> kernel;
  fd::Queue queue;
  fd::DeviceBuffer<std::uint32_t> data;
  std::vector<Pass> passes;
  fd::Grid grid;  // one work-item a pair
  std::uint32_t order;
};

// One way to run the network over an array of the host's.
class Sorter {
public:
  Sorter(Network& network, const Optimizations& optimizations);

  // The array to fill and to sort.
  [[nodiscard]] std::span<std::uint32_t> numbers() { return numbers_; }
  void sort();

private:
  void record();
  void dispatch_passes();
  [[nodiscard]] fd::Ordering ordering(std::size_t pass) const;

  Network& network_;
  Optimizations optimizations_;
  std::vector<std::uint32_t> pageable_;
  fd::PinnedBuffer<std::uint32_t> pinned_;
  std::span<std::uint32_t> numbers_;  // one of the two
  fd::Signal signal_;
  fd::Batch batch_;
};

Sorter::Sorter(Network& network, const Optimizations& optimizations)
    : network_(network), optimizations_(optimizations), signal_(network.gpu),
      batch_(network.gpu, {.fences = optimizations.fences}) {
  if (optimizations_.pinned_host) {
    pinned_ = fd::PinnedBuffer<std::uint32_t>(network_.gpu, network_.data.size());
    numbers_ = pinned_.span();
  } else {
    pageable_.resize(network_.data.size());
    numbers_ = pageable_;
  }
  if (optimizations_.replay) record();
}

// A batch is turned into packets once; each submission of it copies them into the queue and rings the doorbell once.
void Sorter::record() {
  // The GPU's copy engine reaches pinned memory only; a pageable array is copied outside of the batch.
  if (optimizations_.pinned_host) batch_.copy(network_.data, pinned_);
  for (const auto [stage, step] : network_.passes) {
    batch_.dispatch(network_.kernel, network_.grid, network_.data, stage, step, network_.order);
  }
  if (optimizations_.pinned_host) batch_.copy(pinned_, network_.data);
}

void Sorter::sort() {
  if (optimizations_.replay && optimizations_.pinned_host) {
    network_.queue.submit(batch_).wait();
    return;
  }
  fd::copy(network_.data, numbers_);
  if (optimizations_.replay) {
    network_.queue.submit(batch_).wait();
  } else {
    dispatch_passes();
  }
  fd::copy(numbers_, network_.data);
}

// Submits one packet after the other: the optimizations improve this way.
void Sorter::dispatch_passes() {
  std::optional<fd::Signal> own_signal;
  std::vector<fd::KernargBlock> own_kernargs;  // each must live until its kernel has completed
  own_kernargs.reserve(network_.passes.size());

  for (std::size_t i = 0; i < network_.passes.size(); ++i) {
    const bool last = i + 1 == network_.passes.size();
    const bool host_waits = last || !optimizations_.no_host_sync;
    fd::DispatchOptions options{.ordering = ordering(i)};

    // The host learns of a kernel's completion by a signal. Making a signal is a call into the runtime, which allocates
    // memory and an event.
    if (host_waits) {
      if (optimizations_.preallocated_signal) {
        signal_.store(1);
        options.completion = &signal_;
      } else {
        options.completion = &own_signal.emplace(network_.gpu);
      }
    }
    // A kernel reads its arguments from memory while it runs, so each kernel needs a block of its own. By default the
    // queue takes the block from a ring that it reuses; allocating a block is a call into the runtime.
    if (!optimizations_.preallocated_kernarg) {
      options.kernargs = &own_kernargs.emplace_back(network_.gpu, network_.kernel.kernarg_size());
    }

    const auto [stage, step] = network_.passes[i];
    network_.queue.dispatch(network_.kernel, network_.grid, options, network_.data, stage, step, network_.order);

    // The barrier bit in the next packet keeps the passes in order, too, without a round trip to the host.
    if (host_waits) {
      options.completion->wait();
      own_signal.reset();
      own_kernargs.clear();
    }
  }
}

// A fence at system scope makes the GPU write back and drop its caches; but the host looks at the array only before the
// first kernel and after the last.
fd::Ordering Sorter::ordering(std::size_t pass) const {
  if (optimizations_.fences == fd::Fences::conservative) return {};
  const bool first = pass == 0;
  const bool last = pass + 1 == network_.passes.size();
  return {.barrier = fd::BarrierBit::set,
          .acquire = first ? fd::FenceScope::system : fd::FenceScope::agent,
          .release = last ? fd::FenceScope::system : fd::FenceScope::agent};
}

struct Variant {
  std::string name;
  Optimizations optimizations;
};

// Each row of the table adds one optimization to the row above, in the order of the article that measured them first.
std::vector<Variant> ablation() {
  Optimizations so_far;
  std::vector<Variant> variants = {{"baseline", so_far}};
  so_far.preallocated_signal = true;
  variants.push_back({"+ preallocated signal", so_far});
  so_far.preallocated_kernarg = true;
  variants.push_back({"+ preallocated kernarg", so_far});
  so_far.no_host_sync = true;
  variants.push_back({"+ no host synchronization", so_far});
  so_far.fences = fd::Fences::minimal;
  variants.push_back({"+ minimal fences", so_far});
  so_far.pinned_host = true;
  variants.push_back({"+ pinned host memory", so_far});
  so_far.replay = true;
  variants.push_back({"+ replay", so_far});
  return variants;
}

std::string describe(const Optimizations& optimizations) {
  std::string text;
  const auto add = [&text](bool on, const char* name) {
    if (on) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(optimizations.preallocated_signal, "signal");
  add(optimizations.preallocated_kernarg, "kernarg");
  add(optimizations.no_host_sync, "no host synchronization");
  add(optimizations.fences == fd::Fences::minimal, "minimal fences");
  add(optimizations.fences == fd::Fences::derived, "derived fences");
  add(optimizations.pinned_host, "pinned");
  add(optimizations.replay, "replay");
  return text.empty() ? "baseline" : text;
}

std::vector<std::uint32_t> random_numbers(std::size_t length, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> numbers(length);
  std::generate(numbers.begin(), numbers.end(), std::ref(random));
  return numbers;
}

std::vector<std::uint32_t> sorted_by_host(std::vector<std::uint32_t> numbers, Order order) {
  if (order == Order::ascending) {
    std::sort(numbers.begin(), numbers.end());
  } else {
    std::sort(numbers.begin(), numbers.end(), std::greater<>());
  }
  return numbers;
}

// Times one sort of `input` and returns microseconds: both copies and all kernels.
double time_sort(Sorter& sorter, std::span<const std::uint32_t> input, Order order) {
  const std::span<std::uint32_t> numbers = sorter.numbers();
  // A network takes a power of two numbers: the added numbers sort behind all others.
  const std::uint32_t padding = order == Order::ascending ? std::numeric_limits<std::uint32_t>::max() : 0;
  std::fill(std::copy(input.begin(), input.end(), numbers.begin()), numbers.end(), padding);

  return time_of([&sorter] { sorter.sort(); });
}

// Each row's difference to the row above it, and the total gain so far.
void add_differences(std::vector<Row>& rows) {
  const double first = median(rows.front().microseconds);
  double before = first;
  for (Row& row : rows) {
    const double time = median(row.microseconds);
    if (&row != &rows.front()) {
      Figure difference = figure("difference", time - before, 1);
      if (difference.value >= 0) difference.text.insert(difference.text.begin(), '+');
      row.figures = {difference, figure("total", first / time, 2, "x")};
    }
    before = time;
  }
}

void plot_ablation(const std::filesystem::path& file, const Report& report) {
  BarPlot plot = {.title = report.problem, .y_label = "microseconds an iteration", .bars = {}};
  for (const Row& row : report.rows) plot.bars.emplace_back(row.name, median(row.microseconds));
  write_plot(file, plot);
}

int run(const Options& options) {
  // Before the work: a result that can't be written is lost.
  std::optional<OutputFile> output;
  std::optional<OutputFile> json;
  if (options.output) output.emplace(*options.output);
  if (options.common.json) json.emplace(*options.common.json);

  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu(options.common.device);

  const std::vector<Variant> variants =
      options.ablation ? ablation() : std::vector<Variant>{{describe(options.optimizations), options.optimizations}};
  std::vector<std::uint32_t> input;
  if (options.input) input = read_numbers(*options.input);
  const std::size_t length = options.input ? input.size() : options.length;
  if (length > longest) throw std::runtime_error("more than " + std::to_string(longest) + " numbers");
  const std::size_t padded = std::bit_ceil(std::max<std::size_t>(length, 2));
  const std::size_t arrays = variants.size() + 3;  // the input, the expected result, the GPU's, which may be the host's
  require_memory(arrays * padded * sizeof(std::uint32_t));

  Network network(gpu, padded, options.order);
  if (!options.input) input = random_numbers(length, options.seed);
  const std::vector<std::uint32_t> expected = sorted_by_host(input, options.order);
  const std::string problem =
      std::to_string(length) + " unsigned integers, " + std::to_string(network.passes.size()) + " kernels, both copies";
  Report report = report_on("bitonic_sort", problem, runtime, gpu);
  report.verdict = "sorted";
  std::vector<Sorter> sorters;
  sorters.reserve(variants.size());
  for (const auto& [name, optimizations] : variants) {
    sorters.emplace_back(network, optimizations);
    report.rows.push_back({.name = name, .microseconds = {}, .figures = {}, .remark = {}});
  }

  // The variants take turns, so that other load of the machine slows them alike. The first turn does not count: it
  // loads the kernel and touches the memory.
  for (std::size_t iteration = 0; iteration <= options.common.iterations; ++iteration) {
    for (std::size_t i = 0; i < variants.size(); ++i) {
      Row& row = report.rows[i];
      const double time = time_sort(sorters[i], input, options.order);
      const std::span<const std::uint32_t> result = sorters[i].numbers().first(length);
      row.correct = row.correct && std::equal(result.begin(), result.end(), expected.begin());
      if (iteration == 0) continue;
      row.microseconds.push_back(time);
      if (options.print_progress) {
        std::cerr << "iteration " << iteration << " of " << options.common.iterations << ", " << row.name << ": "
                  << time << " us\n";
      }
    }
  }
  add_differences(report.rows);

  print_report(std::cout, report);
  if (json) {
    write_json(*json, report);
    json->commit();
  }
  if (options.plot) plot_ablation(*options.plot, report);
  require_correct(report);
  if (output && options.output) {
    write_numbers(*output, *options.output, std::span(sorters.back().numbers()).first(length));
    output->commit();
  }
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_command_line(argc, argv);
  return run_program("bitonic_sort", [&options] { return run(options); });
}
