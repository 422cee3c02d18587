#include "sorter.hpp"

#include <bitonic_sort_code_object.hpp>

#include <bit>

namespace fd = fastdispatch;

namespace {

std::vector<Pass> passes_for(std::size_t length) {
  std::vector<Pass> passes;
  const auto stages = static_cast<std::uint32_t>(std::countr_zero(length));
  for (std::uint32_t stage = 0; stage < stages; ++stage) {
    for (std::uint32_t step = stage + 1; step-- > 0;) passes.push_back({stage, step});
  }
  return passes;
}

}  // namespace

Network::Network(fd::Agent agent, std::size_t length, Order direction)
    : gpu(agent), module(fd::Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort")),
      kernel(module.kernel<BitonicPass>("bitonic_pass")), queue(gpu), signals(gpu), data(gpu, length),
      passes(passes_for(length)), grid(fd::grid(static_cast<std::uint32_t>(length / 2))),
      order(static_cast<std::uint32_t>(direction)) {}

Sorter::Sorter(Network& network, const Optimizations& optimizations)
    : network_(network), optimizations_(optimizations), kept_signal_(network.gpu),
      batch_(network.gpu, {.fences = optimizations.fences}), passes_(network.gpu, {.fences = optimizations.fences}) {
  if (optimizations_.pinned_host) {
    pinned_ = fd::PinnedBuffer<std::uint32_t>(network_.gpu, network_.data.size());
    numbers_ = pinned_.span();
  } else {
    pageable_.resize(network_.data.size());
    numbers_ = pageable_;
  }
  if (optimizations_.kernargs == Origin::kept) {
    const std::size_t blocks = optimizations_.no_host_sync ? network_.passes.size() : 1;
    kept_kernargs_.reserve(blocks);
    while (kept_kernargs_.size() < blocks) kept_kernargs_.emplace_back(network_.gpu, network_.kernel.kernarg_size());
  }
  if (optimizations_.replay) record();
  record_passes(passes_);
}

// A batch is turned into packets once; each submission of it copies them into the queue and rings the doorbell once.
void Sorter::record() {
  // The GPU's copy engine reaches pinned memory only; a pageable array is copied outside of the batch.
  if (optimizations_.pinned_host) batch_.copy(network_.data, pinned_);
  record_passes(batch_);
  if (optimizations_.pinned_host) batch_.copy(pinned_, network_.data);
}

void Sorter::record_passes(fd::Batch& batch) const {
  for (const auto [stage, step] : network_.passes) {
    batch.dispatch(network_.kernel, network_.grid, network_.data, stage, step, network_.order);
  }
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

std::chrono::nanoseconds Sorter::time_kernels() {
  const fd::TimedSubmission timed = network_.queue.submit_timed(passes_);
  timed.wait();
  return timed.kernel_time();
}

// Submits one packet after the other: the optimizations improve this way.
void Sorter::dispatch_passes() {
  Belongings own;
  for (std::size_t i = 0; i < network_.passes.size(); ++i) {
    const bool last = i + 1 == network_.passes.size();
    const bool host_waits = last || !optimizations_.no_host_sync;
    fd::DispatchOptions options{.ordering = ordering(i), .kernargs = kernargs_for(i, own)};
    if (host_waits) options.completion = &completion_signal(own);

    const auto [stage, step] = network_.passes[i];
    network_.queue.dispatch(network_.kernel, network_.grid, options, network_.data, stage, step, network_.order);

    // The barrier bit in the next packet keeps the passes in order, too, without a round trip to the host.
    if (host_waits) {
      options.completion->wait();
      own.end_kernel(optimizations_);
    }
  }
}

// The host learns of a kernel's completion by a signal. Making a signal is a call into the runtime, which allocates
// memory and an event.
fd::Signal& Sorter::completion_signal(Belongings& own) {
  switch (optimizations_.signal) {
  case Origin::each_kernel:
    return own.signal.emplace(network_.gpu);
  case Origin::each_sort:
    if (!own.signal) return own.signal.emplace(network_.gpu);
    own.signal->store(1);
    return *own.signal;
  case Origin::pool:
    return *own.pooled_signal.emplace(network_.signals.acquire());
  case Origin::kept:
    break;
  }
  kept_signal_.store(1);
  return kept_signal_;
}

// A kernel reads its arguments from memory while it runs: kernels that may run at once need a block each. Allocating a
// block is a call into the runtime.
const fd::KernargBlock* Sorter::kernargs_for(std::size_t pass, Belongings& own) {
  const std::size_t block = optimizations_.no_host_sync ? pass : 0;
  switch (optimizations_.kernargs) {
  case Origin::each_kernel:
    return &own.kernargs.emplace_back(network_.gpu, network_.kernel.kernarg_size());
  case Origin::each_sort:
    if (block == own.kernargs.size()) own.kernargs.emplace_back(network_.gpu, network_.kernel.kernarg_size());
    return &own.kernargs[block];
  case Origin::pool:
    return nullptr;  // the queue has a ring of blocks
  case Origin::kept:
    break;
  }
  return &kept_kernargs_[block];
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
