// Vector registers whose lanes are known from lane 0's: all have the same number, or each a fixed number more than the
// lane before.
//
// Rows begin with scalar registers and constants and, where a wavefront starts with its work-items' ids in a row
// (wave_start.hpp), with these. A row holds modulo 2^32, for the lanes that EXEC enabled.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/program/exec_bounds.hpp"

namespace softgpu::compute {

/// A register with start + lane * stride in each lane.
struct LaneRow {
  std::uint8_t stride = 0;
  bool is_packed_ids = false;  ///< x, y and z of the work-items, in 10 bits each
  ExecBounds::Level level = 0;

  [[nodiscard]] bool is_uniform() const { return stride == 0; }
};

/// Lane 0's 32 bits of a row.
struct LaneWord {
  const Operand* operand = nullptr;  ///< a scalar register or a constant; null: a vector register
  unsigned vector = 0;
};

/// A summand, modulo 2^32.
struct LaneTerm {
  LaneWord word = {};
  std::uint32_t factor = 1;
};

/// How lane 0 of a row is computed: the sum of `terms` and of the product of `factors`, of which some bits are taken.
struct LaneRowStep {
  std::array<std::optional<LaneTerm>, 3> terms = {};
  std::optional<std::array<LaneWord, 2>> factors = {};
  unsigned factor_bits = 32;  ///< that count
  unsigned first_bit = 0;
  unsigned bits = 32;
};

/// What is known of the vector registers at a place of a program.
class LaneRows {
public:
  static constexpr unsigned register_count = first_agpr;
  static constexpr unsigned most_stride = 255;

  /// Registers 0 to `count` - 1 have the work-items' ids that a wavefront starts with, in rows. Of several registers
  /// the first has x; one alone has x, y and z.
  void begin_with_ids(unsigned count);

  [[nodiscard]] const std::optional<LaneRow>& at(unsigned index) const { return rows_.at(index); }
  /// The row that an operand of 32 bits is.
  [[nodiscard]] std::optional<LaneRow> row(const Operand& operand) const;
  [[nodiscard]] static LaneWord word(const Operand& operand);

  struct Made {
    LaneRowStep step = {};
    LaneRow row = {};
    unsigned to = 0;
  };
  /// What a plain instruction writes, if it is a row.
  [[nodiscard]] std::optional<Made> make(const Instruction& instruction) const;
  void take(const Made& made, ExecBounds::Level level);

  void forget(unsigned index) { rows_.at(index).reset(); }
  /// Forgets what was found at levels from `kept` on.
  void forget_levels(unsigned kept);
  /// What holds on both of two paths. Returns whether that is less than before.
  bool join(const LaneRows& other);

private:
  struct Summand {
    const Operand& operand;
    std::uint32_t factor = 1;
  };
  [[nodiscard]] std::optional<Made> sum(const Operand& to, std::initializer_list<Summand> summands) const;
  [[nodiscard]] std::optional<Made> product(const Operand& to, const Operand& a, const Operand& b) const;
  [[nodiscard]] std::optional<Made> short_product(const Operand& to, const Operand& a, const Operand& b) const;
  [[nodiscard]] static std::optional<Made> plus(std::optional<Made> made, const std::optional<LaneRow>& row,
                                                const LaneWord& word);
  [[nodiscard]] std::optional<Made> id(const Operand& to, const Operand& ids, unsigned first_bit) const;
  [[nodiscard]] std::optional<Made> id(const Instruction& instruction) const;

  std::array<std::optional<LaneRow>, register_count> rows_ = {};
};

/// Whether it is an integer that the instruction has.
[[nodiscard]] bool is_constant(const Operand& operand);
/// A number of bits to shift by, if it is constant.
[[nodiscard]] std::optional<unsigned> constant_shift(const Operand& operand, unsigned most);
/// Whether it is `dwords` vector registers, and not AGPRs.
[[nodiscard]] bool are_vector_registers(const Operand& operand, unsigned dwords);

}  // namespace softgpu::compute
