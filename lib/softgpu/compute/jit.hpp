// Host code from LLVM IR: optimizes a module, compiles it through ORC, and releases it when its owner goes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "wave_state.hpp"

namespace llvm {
class Module;
}

namespace softgpu::compute {

/// The host code of one kernel. Whoever holds `code` keeps it mapped.
struct HostCode {
  WaveFunction wave = nullptr;
  std::shared_ptr<const void> code;
};

/// Thread safety: `compile` by one thread at a time; HostCode may be released on any thread, also after the Jit.
class Jit {
public:
  Jit();
  ~Jit();
  Jit(const Jit&) = delete;
  Jit& operator=(const Jit&) = delete;

  /// `fill` adds a function to the module, named as it is told. What it throws passes through.
  [[nodiscard]] HostCode compile(const std::function<void(llvm::Module&, const char* name)>& fill);

private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace softgpu::compute
