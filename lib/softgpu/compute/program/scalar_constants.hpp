// Scalar registers whose values follow from the code alone: how calls find their functions without being executed.
//
// A value found here is a guess that saves time: a translated branch looks at the register. So a value may be carried
// along one of several paths.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

class ScalarConstants {
public:
  /// Follows s_getpc_b64, additions and moves of known values, and s_load_dwordx2 from a known address (a global offset
  /// table).
  /// Any other instruction's scalar destination becomes unknown. `entry` is the address that offsets count from.
  void follow(const Instruction& instruction, std::uint64_t entry);

  [[nodiscard]] std::optional<std::uint64_t> pair(const Operand& operand) const;

private:
  [[nodiscard]] std::optional<std::uint32_t> value(const Operand& operand) const;
  void set(unsigned index, std::optional<std::uint32_t> value);
  void set_pair(unsigned index, std::optional<std::uint64_t> value);
  void add(const Instruction& instruction, std::optional<unsigned> carry_in);

  std::array<std::optional<std::uint32_t>, scalar_register::count> values_ = {};
  std::optional<unsigned> carry_;
};

}  // namespace softgpu::compute
