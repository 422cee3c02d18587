// ROCr's interrupt waits, kept on for a software device that raises events.
//
// ROCr 7 clears a variable of its own when it finds a GPU of a software device (DTIF), just before it makes the agent.
// All of its signals are then polled: a thread of ROCr's takes a core for ever, waiting programs take another one, and
// no memory fault is reported. The soft GPU has events, so it sets the variable again. The variable has no name in the
// library. It is the only byte of ROCr's data that changes from 1 to 0 between two calls of the thunk: the one that
// reads the GPU's properties for its agent, and the one that reads the agent's clock. Where it is not the only one, or
// none changes, as with HSA_ENABLE_INTERRUPT=0, nothing is written.
//
// Thread safety: every member may be called from any thread. ROCr finds its GPUs on one thread, and reads clocks on
// all.
#pragma once

#include <cstddef>
#include <mutex>
#include <span>
#include <vector>

namespace softgpu::thunk {

class InterruptWaits {
public:
  /// ROCr, the library with the address `code`, is about to clear the variable.
  void before(const void* code);
  /// ROCr may have cleared the variable since before() was called.
  void after();

private:
  struct Data {
    std::span<std::byte> now;
    std::vector<std::byte> before;
  };

  std::mutex mutex_;
  std::vector<Data> data_;
  std::byte* variable_ = nullptr;
};

/// The data of the loaded library with the address `code`: what it may write to.
[[nodiscard]] std::vector<std::span<std::byte>> writable_data(const void* code);

}  // namespace softgpu::thunk
