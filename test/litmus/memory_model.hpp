// The code that LLVM emits for atomic accesses and fences: "Memory Model" in its AMDGPU usage guide, the tables "AMDHSA
// Memory Model Code Sequences" of GFX90A, GFX942 and GFX10-GFX11. Work-groups are not split over compute units
// (no tgsplit) on gfx90a and gfx942, and lie on both compute units of a WGP (no cumode) on gfx10 and gfx11.
#pragma once

#include <cstdint>
#include <string>

#include "litmus_test.hpp"

namespace softgpu::litmus {

enum class Scope : std::uint8_t { wavefront, work_group, agent, system };

/// How an instruction reaches its variable.
enum class Memory : std::uint8_t {
  global,            ///< a VGPR pair holds the address
  global_with_base,  ///< an SGPR pair holds the slot's address, a VGPR the offset
  flat,
  buffer,
  lds,
};

/// The instructions around an access, and the hints behind its operands.
struct Sequence {
  std::string before;
  std::string hints;
  std::string after;
};

[[nodiscard]] Sequence load_sequence(Memory memory, Order order, Scope scope);
[[nodiscard]] Sequence store_sequence(Memory memory, Order order, Scope scope);
[[nodiscard]] std::string fence_sequence(Order order, Scope scope);

/// Until the results of all loads are there.
[[nodiscard]] std::string wait_for_loads();

}  // namespace softgpu::litmus
