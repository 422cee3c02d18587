// Executes snippets on the soft GPU and compares the resulting state with a reference.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "kernel_image.hpp"
#include "kernel_text.hpp"
#include "machine_state.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "values.hpp"

namespace softgpu::isa {

using Random = std::mt19937_64;

/// A vector register (pair) whose value is a floating-point number: where the reference has a NaN any quiet NaN will
/// do, and approximations may be a little off.
struct FloatResult {
  unsigned vgpr = 0;
  Type type = Type::float32;
  Tolerance tolerance = {};
};

/// One or several instructions, with their expected effect.
struct Case {
  std::string assembly;
  /// Changes a random state so that it suits the snippet: operands of the right types, addresses in the window.
  std::function<void(MachineState&, Random&)> prepare;
  std::function<void(MachineState&)> reference;
  std::vector<FloatResult> float_results = {};
};

/// How cases are executed. Those with equal options may share a kernel.
struct Options {
  Lds lds = Lds::unused;
  Scratch scratch = Scratch::unused;
  unsigned states = 1;  ///< times as many states, for instructions that take one operand a wavefront instead of 64
  bool gfx90a_lacks_them = false;                      ///< the test is skipped there
  std::uint32_t float_mode = KernelImage::usual_mode;  ///< what the kernel descriptor says

  bool operator==(const Options&) const = default;
};

/// Has each case executed on many random states (FASTDISPATCH_ISA_ROUNDS in the environment overrides how many; 16
/// unless set) when the test suite ends, together with its other tests' cases: a kernel's frame around the cases takes
/// longer to translate than most cases. A case that is refused, or differs from its reference, is a failure of the
/// suite, and the failure names the test. The cases' functions must not refer to what the test owns.
void expect_match(const std::vector<Case>& cases, Options options = {});

/// The upper halves of addresses by which FLAT instructions reach LDS and scratch memory.
inline constexpr std::uint32_t shared_aperture_high = 0x20000;
inline constexpr std::uint32_t private_aperture_high = 0x10000;

/// The engine's answer for a kernel with this snippet: nothing if it translates the kernel, else the reason of the
/// refusal.
[[nodiscard]] std::optional<compute::Failure> refusal(const std::string& assembly);

}  // namespace softgpu::isa
