#include "options.hpp"

#include <iterator>

namespace {

constexpr std::size_t ablation_iterations = 100;

}  // namespace

Options parse_command_line(int argc, char** argv) {
  Options options;
  Optimizations& optimizations = options.optimizations;
  CommandLine line("Sorts unsigned 32-bit integers on the GPU with a bitonic network, one dispatch a pass.",
                   "bitonic_sort");

  constexpr const char* data = "What is sorted";
  CommandLineOption length = line.option("--length", &options.length, "How many random numbers to sort (32768)")
                                 .between(1, longest)
                                 .value_name("N")
                                 .group(data);
  CommandLineOption seed =
      line.option("--seed", &options.seed, "Of the random numbers (1)").value_name("N").group(data);
  line.option("--input", &options.input, "Sort this file: text with one number a line, or raw little-endian (.u32)")
      .excludes(length)
      .excludes(seed)
      .value_name("FILE")
      .group(data);
  line.option("--output", &options.output,
              "Write the sorted numbers: text, or raw where the name ends in .u32; - is standard output")
      .value_name("FILE")
      .group(data);
  bool descending = false;
  line.flag("--descending", descending, "Largest first").group(data);

  constexpr const char* flags = "Dispatch optimizations";
  bool all = false;
  bool each_kernel = false;
  bool pool = false;
  bool kept_signal = false;
  bool kept_kernargs = false;
  bool minimal_fences = false;
  fastdispatch::Fences fences = optimizations.fences;
  CommandLineOption allocate_each =
      line.flag("--allocate-each", each_kernel, "Make a signal and an argument block for each kernel");
  CommandLineOption chosen[] = {
      allocate_each,
      line.flag("--pool", pool, "Take signals and argument blocks from the library's pools").excludes(allocate_each),
      line.flag("--opt", all, "The next five"),
      line.flag("--opt-prealloc-signal,--optPreallocSignal", kept_signal,
                "Use one completion signal for all kernels of all sorts"),
      line.flag("--opt-prealloc-kernarg,--optPreallocKernarg", kept_kernargs,
                "Allocate the arguments' blocks once, before the first sort"),
      line.flag("--opt-avoid-host-sync,--optAvoidHostSync", optimizations.no_host_sync,
                "Order the kernels by the barrier bit; wait on the host once"),
      line.flag("--opt-fence,--optFence", minimal_fences, "System-scope fences at the ends only, agent scope between"),
      line.flag("--opt-pinned-host,--optPinnedHost", optimizations.pinned_host,
                "Keep the host's array in pinned memory"),
      line.flag("--opt-replay,--optReplay", optimizations.replay,
                "Record everything once and submit it again; the first three come with it"),
      add_fences_option(line, fences)
          .description("conservative, minimal, or derived (with --opt-replay), whatever the other flags say"),
  };

  constexpr const char* run = "How it runs";
  CommandLineOption ablation =
      line.flag("--ablation", options.ablation, "Add the optimizations one by one and print what each buys")
          .value_name(" ")  // or else the help lists whom it excludes
          .group(run);
  for (CommandLineOption& option : chosen) option.excludes(ablation).value_name(" ").group(flags);
  CommandLineOption fences_option = chosen[std::size(chosen) - 1].value_name("NAME");
  CommandLineOption iterations = add_common_options(line, options.common)
                                     .description("How often to sort, for the median time (1; with --ablation 100)");
  add_plot_option(line, options.plot);
  line.flag("--print-progress", options.print_progress, "Print each iteration's time on standard error").group(run);

  line.parse_or_exit(argc, argv);

  if (all) {
    kept_signal = kept_kernargs = true;
    optimizations.no_host_sync = optimizations.pinned_host = minimal_fences = true;
  }
  if (each_kernel) optimizations.signal = optimizations.kernargs = Origin::each_kernel;
  if (pool) optimizations.signal = optimizations.kernargs = Origin::pool;
  if (kept_signal) optimizations.signal = Origin::kept;
  if (kept_kernargs) optimizations.kernargs = Origin::kept;
  if (minimal_fences) optimizations.fences = fastdispatch::Fences::minimal;
  if (fences_option.is_given()) optimizations.fences = fences;
  // Only a batch knows what its dispatches touch.
  if (optimizations.fences == fastdispatch::Fences::derived) optimizations.replay = true;
  if (descending) options.order = Order::descending;
  if (options.ablation && !iterations.is_given()) options.common.iterations = ablation_iterations;
  return options;
}
