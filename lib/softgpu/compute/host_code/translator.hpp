// Translates a kernel's program to one LLVM function, void(WaveState*), that runs a wavefront.
#pragma once

#include <cstdint>
#include <memory>

#include "softgpu/compute/emit/emit_options.hpp"
#include "softgpu/compute/program/program.hpp"
#include "softgpu/compute/program/waits_for.hpp"
#include "softgpu/compute/program/wave_start.hpp"

namespace llvm {
class Module;
}

namespace softgpu::compute {

class TemplateCalls;

struct Translation {
  WaitsFor waits_for = WaitsFor::nothing;
};

/// Adds the function `name` to `module`. Throws UnsupportedInstruction. With `templates`, the function calls theirs.
Translation translate(const Program& program, const WaveStart& start, const EmitOptions& options, const char* name,
                      llvm::Module& module, TemplateCalls* templates = nullptr);

}  // namespace softgpu::compute
