// Runs the passes of a bitonic network on the GPU, with each of the optimizations or without.
#pragma once

#include "options.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

// The signature of the kernel in kernels/bitonic_sort.hip. The library compares it with the code object when the kernel
// is looked up.
using BitonicPass = void(std::uint32_t* data, std::uint32_t stage, std::uint32_t step, std::uint32_t order);

struct Pass {
  std::uint32_t stage;
  std::uint32_t step;
};

// Objects that are set up once, for every way to dispatch the passes.
struct Network {
  Network(fastdispatch::Agent agent, std::size_t length, Order direction);

  fastdispatch::Agent gpu;
  fastdispatch::Module module;
  fastdispatch::Kernel<BitonicPass> kernel;
  fastdispatch::Queue queue;
  fastdispatch::SignalPool signals;
  fastdispatch::DeviceBuffer<std::uint32_t> data;
  std::vector<Pass> passes;
  fastdispatch::Grid grid;  // one work-item a pair
  std::uint32_t order;
};

// One way to run the network over an array of the host's.
class Sorter {
public:
  Sorter(Network& network, const Optimizations& optimizations);

  // The array to fill and to sort.
  [[nodiscard]] std::span<std::uint32_t> numbers() { return numbers_; }
  void sort();

  // Runs the passes once more, over the array that the last sort left on the GPU, and returns the sum of the kernels'
  // own times: what of a sort is not dispatching and copying.
  [[nodiscard]] std::chrono::nanoseconds time_kernels();

private:
  // What one sort makes for itself.
  struct Belongings {
    std::optional<fastdispatch::Signal> signal;
    std::optional<fastdispatch::PooledSignal> pooled_signal;
    std::deque<fastdispatch::KernargBlock> kernargs;  // a block must live until its kernel has completed

    // The host has waited for it.
    void end_kernel(const Optimizations& optimizations) {
      if (optimizations.signal == Origin::each_kernel) signal.reset();
      if (optimizations.kernargs == Origin::each_kernel) kernargs.clear();
      pooled_signal.reset();
    }
  };

  void record();
  void record_passes(fastdispatch::Batch& batch) const;
  void dispatch_passes();
  [[nodiscard]] fastdispatch::Signal& completion_signal(Belongings& own);
  [[nodiscard]] const fastdispatch::KernargBlock* kernargs_for(std::size_t pass, Belongings& own);
  [[nodiscard]] fastdispatch::Ordering ordering(std::size_t pass) const;

  Network& network_;
  Optimizations optimizations_;
  std::vector<std::uint32_t> pageable_;
  fastdispatch::PinnedBuffer<std::uint32_t> pinned_;
  std::span<std::uint32_t> numbers_;  // one of the two
  fastdispatch::Signal kept_signal_;
  std::vector<fastdispatch::KernargBlock> kept_kernargs_;
  fastdispatch::Batch batch_;
  fastdispatch::Batch passes_;  // alone, to be timed
};
