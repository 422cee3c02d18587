// Translates a kernel's program to one LLVM function, void(WaveState*), that runs a wavefront.
#pragma once

#include <cstdint>
#include <memory>

#include "program.hpp"

namespace llvm {
class Module;
}

namespace softgpu::compute {

struct Translation {
  bool needs_fiber = false;  ///< the wavefront may wait for others of its work-group
};

/// Adds the function `name` to `module`. Throws UnsupportedInstruction.
Translation translate(const Program& program, std::uint32_t float_mode, const char* name, llvm::Module& module);

}  // namespace softgpu::compute
