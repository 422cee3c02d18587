#include "options.hpp"

#include <CLI/CLI.hpp>

#include <iterator>

namespace {

constexpr std::size_t ablation_iterations = 100;

}  // namespace

Options parse_command_line(int argc, char** argv) {
  Options options;
  Optimizations& optimizations = options.optimizations;
  CLI::App app("Sorts unsigned 32-bit integers on the GPU with a bitonic network, one dispatch a pass.",
               "bitonic_sort");

  constexpr const char* data = "What is sorted";
  auto* length = app.add_option("--length", options.length, "How many random numbers to sort (32768)")
                     ->check(CLI::Range(std::size_t{1}, longest))
                     ->option_text("N")
                     ->group(data);
  auto* seed = app.add_option("--seed", options.seed, "Of the random numbers (1)")->option_text("N")->group(data);
  app.add_option("--input", options.input, "Sort this file: text with one number a line, or raw little-endian (.u32)")
      ->excludes(length)
      ->excludes(seed)
      ->option_text("FILE")
      ->group(data);
  app.add_option("--output", options.output, "Write the sorted numbers: text, or raw where the name ends in .u32")
      ->option_text("FILE")
      ->group(data);
  bool descending = false;
  app.add_flag("--descending", descending, "Largest first")->group(data);

  constexpr const char* flags = "Dispatch optimizations";
  bool all = false;
  bool minimal_fences = false;
  fastdispatch::Fences fences = optimizations.fences;
  CLI::Option* const chosen[] = {
      app.add_flag("--opt", all, "The next five"),
      app.add_flag("--opt-prealloc-signal,--optPreallocSignal", optimizations.preallocated_signal,
                   "Use one completion signal for all kernels"),
      app.add_flag("--opt-prealloc-kernarg,--optPreallocKernarg", optimizations.preallocated_kernarg,
                   "Take argument blocks from a pool"),
      app.add_flag("--opt-avoid-host-sync,--optAvoidHostSync", optimizations.no_host_sync,
                   "Order the kernels by the barrier bit; wait on the host once"),
      app.add_flag("--opt-fence,--optFence", minimal_fences,
                   "System-scope fences at the ends only, agent scope between"),
      app.add_flag("--opt-pinned-host,--optPinnedHost", optimizations.pinned_host,
                   "Keep the host's array in pinned memory"),
      app.add_flag("--opt-replay,--optReplay", optimizations.replay,
                   "Record everything once and submit it again; the first three come with it"),
      add_fences_option(app, fences)
          ->description("conservative, minimal, or derived (with --opt-replay), whatever the other flags say"),
  };

  constexpr const char* run = "How it runs";
  auto* ablation =
      app.add_flag("--ablation", options.ablation, "Add the optimizations one by one and print what each buys")
          ->option_text(" ")  // or else the help lists whom it excludes
          ->group(run);
  for (CLI::Option* option : chosen) option->excludes(ablation)->option_text(" ")->group(flags);
  CLI::Option* const fences_option = chosen[std::size(chosen) - 1]->option_text("NAME");
  auto* iterations = add_common_options(app, options.common)
                         ->description("How often to sort, for the median time (1; with --ablation 100)");
  add_plot_option(app, options.plot);
  app.add_flag("--print-progress", options.print_progress, "Print each iteration's time on standard error")->group(run);

  parse_or_exit(app, argc, argv);

  if (all) {
    optimizations.preallocated_signal = optimizations.preallocated_kernarg = true;
    optimizations.no_host_sync = optimizations.pinned_host = minimal_fences = true;
  }
  if (minimal_fences) optimizations.fences = fastdispatch::Fences::minimal;
  if (fences_option->count() > 0) optimizations.fences = fences;
  // Only a batch knows what its dispatches touch.
  if (optimizations.fences == fastdispatch::Fences::derived) optimizations.replay = true;
  if (descending) options.order = Order::descending;
  if (options.ablation && iterations->count() == 0) options.common.iterations = ablation_iterations;
  return options;
}
