#include "softgpu/compute/run_time/clocks.hpp"

#include <chrono>

namespace softgpu::compute::runtime {
namespace {

std::uint64_t nanoseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace

void look_at_clock(WaveState* state) {
  constexpr std::uint64_t longest_turn = 500'000;
  const std::uint64_t now = nanoseconds_now();
  if (state->turn_since == 0) state->turn_since = now;
  if (now - state->turn_since >= longest_turn) state->end_turn(state);
}

std::uint64_t real_time() { return nanoseconds_now() / (1'000'000'000 / real_time_frequency); }

std::uint64_t shader_clock() { return nanoseconds_now() * (shader_megahertz / 100) / 10; }

}  // namespace softgpu::compute::runtime
