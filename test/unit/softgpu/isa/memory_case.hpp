// Memory instructions with their addressing chosen, and states that suit them.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness.hpp"
#include "memory_operation.hpp"

namespace softgpu::isa {

inline constexpr unsigned address_vgpr = 0;
inline constexpr unsigned data_vgpr = 4;
inline constexpr unsigned result_vgpr_of_memory = 8;

/// A way to say where. Lanes aim at offsets in the middle of the memory or LDS window, so that stray accesses show.
struct Addressing {
  std::string name;  ///< for a person
  /// The instruction's text, up to and including its offset.
  std::function<std::string(const MemoryOperation& operation, bool returns)> text;
  /// Sets the lane's registers so that it accesses the window at `offset`; once a state, before the lanes, with no
  /// lane.
  std::function<void(MachineState& state)> prepare = {};
  std::function<void(MachineState& state, unsigned lane, u32 offset)> aim;
  /// The lane's bytes by the rules of the addressing, or nullptr where the access is out of range.
  std::function<std::uint8_t*(MachineState& state, const MachineState& before, unsigned lane, unsigned bytes)> resolve;
  bool returns_in_data = false;  ///< MUBUF atomics return into their data registers
  unsigned aligned_to = 1;       ///< the least alignment of loads and stores
};

enum class Returning { no, yes };
[[nodiscard]] Case case_of(const MemoryOperation& operation, const Addressing& addressing,
                           Returning returning = Returning::no);

/// What a buffer's fourth dword has by which RDNA checks ranges as GFX9 does (OOB_SELECT); 0 for GFX9.
[[nodiscard]] u32 gfx9_range(u32 stride);

/// "v[4:5]": the registers with an operation's data and result.
[[nodiscard]] std::string data_text(const MemoryOperation& operation);
[[nodiscard]] std::string result_text(const MemoryOperation& operation);

/// Which element each lane accesses: one after the other, backwards, every other one, in any order, or, where lanes may
/// meet, the same.
[[nodiscard]] std::array<u32, lane_count> lane_places(Random& random, bool lanes_may_meet);

/// A name for GoogleTest.
[[nodiscard]] inline std::string operation_name(const testing::TestParamInfo<MemoryOperation>& row) {
  return row.param.name;
}

}  // namespace softgpu::isa
