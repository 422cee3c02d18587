// Registers in memory (run_time/registers_in_memory.hpp), as emitted code knows them.
#pragma once

#include <cstddef>
#include <vector>

namespace llvm {
class Value;
}

namespace softgpu::compute {

struct RegisterMemory {
  /// Registers side by side, from number `first` on.
  struct Run {
    unsigned first;
    unsigned count;
    llvm::Value* address;    ///< the first lies there,
    std::size_t offset = 0;  ///< and so many bytes
  };

  llvm::Value* base = nullptr;  ///< of RegistersInMemory
  unsigned vgprs = 0;
  unsigned agprs = 0;
  std::vector<Run> scalars;  ///< from even numbers on
  std::vector<Run> vectors;
};

}  // namespace softgpu::compute
