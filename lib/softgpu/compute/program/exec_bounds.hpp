// What can be told of EXEC without executing: that it lies within what it was before.
//
// Levels are sets of lanes, each within the one before; the highest is EXEC. A branch of the kernel's source narrows
// EXEC, and what it saved brings the former level back. A fact about lanes that was found at a level holds as long as
// the level is there.
#pragma once

#include <array>
#include <cstdint>

#include "softgpu/compute/instruction_set/instruction.hpp"

namespace softgpu::compute {

class ExecBounds {
public:
  explicit ExecBounds(unsigned lanes = 64) : mask_dwords_(lanes / 32) {}

  using Level = std::uint8_t;

  /// The level that is EXEC.
  [[nodiscard]] Level top() const { return top_; }
  /// How many levels are the sets that they were before the last follow(); facts of the others are void.
  [[nodiscard]] unsigned kept() const { return kept_; }

  /// Follows an instruction.
  void follow(const Instruction& instruction);
  /// What holds on both of two paths. Returns whether that is less than before.
  bool join(const ExecBounds& other);

private:
  /// What is known of a scalar register, or pair, as a set of lanes.
  struct Mask {
    enum class Kind : std::uint8_t { unknown, within, equal };
    Kind kind = Kind::unknown;
    Level level = 0;

    [[nodiscard]] bool is_known() const { return kind != Kind::unknown; }
    bool operator==(const Mask&) const = default;
  };
  static constexpr Level empty = 255;  ///< no lane: within every level
  static constexpr Level deepest = 6;

  [[nodiscard]] bool is_mask(const Operand& operand) const;
  [[nodiscard]] Mask mask(const Operand& operand) const;
  [[nodiscard]] Mask result(const Instruction& instruction) const;
  void set_exec(Mask mask);
  void narrow();
  void forget();

  std::array<Mask, scalar_register::vcc + 2> masks_ = {};  ///< by the first register's number
  unsigned mask_dwords_;
  Level top_ = 0;
  std::uint8_t kept_ = 1;
};

}  // namespace softgpu::compute
