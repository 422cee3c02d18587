// Addresses that kernels put together from 32-bit halves, recognized as what they are: a number that all lanes have in
// common, and 32 bits of each lane's own.
//
// A compiler makes `base + index * 4` of v_ashrrev_i32, v_lshlrev_b64, v_add_co_u32 and v_addc_co_u32. The sum holds
// modulo 2^64, and by construction: no range of any part is assumed. It holds for the lanes that EXEC enabled; inactive
// lanes have anything in their registers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/program/exec_bounds.hpp"

namespace softgpu::compute {

/// A pair of vector registers: base + (index << shift).
struct LaneSum {
  std::uint8_t high = 0;  ///< the register of the upper halves
  std::uint8_t shift = 0;
  bool is_signed = false;  ///< the index
  bool has_base = false;   ///< something was added: the pair may be an address
  ExecBounds::Level level = 0;
};

/// 32 bits that are the same in all lanes.
struct LaneWord {
  const Operand* operand = nullptr;  ///< a scalar register or a constant; null: a vector register
  unsigned vector = 0;
};

/// 64 bits that are the same in all lanes.
struct UniformPair {
  const Operand* operand = nullptr;  ///< null: two vector registers
  unsigned low = 0, high = 0;
};

/// 64 bits of each lane.
struct LanePair {
  enum class Kind : std::uint8_t {
    sum,            ///< the sum of `low`
    sign_extended,  ///< `low`, with its sign
    zero_extended,  ///< `low`, and zeros
    with_high,      ///< `low`, and `high`, which is the same in all lanes
  };
  Kind kind = Kind::sum;
  unsigned low = 0, high = 0;
};

/// What an instruction does to sums, for the emitter, which does it before the instruction writes its registers.
struct LaneSumStep {
  enum class Kind : std::uint8_t {
    none,
    make_word,  ///< `low` has `word` in all lanes
    make_sum,   ///< the sum of `low` is source << shift, and `added`, or the product of `factors`, unless they are null
    begin_sum,  ///< the lower half of a sum: `source` and `word`; `carry` names it
    end_sum,    ///< the sum of `low` is the one of `carry`, with `high_words` in the upper half
  };
  Kind kind = Kind::none;
  unsigned low = 0;
  LaneWord word = {};
  LanePair source = {};
  unsigned shift = 0;
  std::optional<UniformPair> added = {};
  unsigned added_shift = 0;
  std::optional<std::array<LaneWord, 2>> factors = {};
  unsigned carry = 0;
  std::array<std::optional<LaneWord>, 2> high_words = {};
};

/// What is known of the vector registers at a place of a program.
class LaneSums {
public:
  explicit LaneSums(unsigned lanes = 64) : exec_(lanes) {}

  static constexpr unsigned register_count = first_agpr;
  static constexpr unsigned most_shift = 4;

  /// The sum that a pair of registers has, if it may be an address.
  [[nodiscard]] const LaneSum* address(const Operand& pair) const;

  /// Follows an instruction. The steps refer to its operands.
  std::vector<LaneSumStep> follow(const Instruction& instruction);
  /// What holds on both of two paths. Returns whether that is less than before.
  bool join(const LaneSums& other);
  /// Forgets sums that are not complete: they are followed within a block only.
  void forget_begun() { begun_ = {}; }

private:
  /// Between the additions of the lower and of the upper halves.
  struct Begun {
    unsigned carry = 0;  ///< the mask that has it
    unsigned low = 0;
    bool has_sum = false;  ///< of the vector source, whose upper half is in sum.high
    LaneSum sum = {};
  };
  struct Made {
    LaneSumStep step = {};
    std::optional<LaneSum> sum = {};
    std::optional<Begun> begun = {};
    unsigned low = 0;
  };

  [[nodiscard]] bool is_word(const Operand& operand) const;
  [[nodiscard]] LaneWord word(const Operand& operand) const;
  [[nodiscard]] std::optional<UniformPair> uniform_pair(const Operand& operand) const;
  [[nodiscard]] std::optional<LanePair> lane_pair(const Operand& operand) const;
  [[nodiscard]] LaneSum sum_of(const LanePair& pair, unsigned high) const;

  [[nodiscard]] Made make(const Instruction& instruction) const;
  [[nodiscard]] Made make_dual(const Instruction& half) const;
  [[nodiscard]] Made move(const Instruction& instruction) const;
  [[nodiscard]] Made move_pair(const Instruction& instruction) const;
  [[nodiscard]] Made extend_sign(const Instruction& instruction) const;
  [[nodiscard]] Made shift_left(const Instruction& instruction) const;
  [[nodiscard]] Made shift_and_add(const Instruction& instruction) const;
  [[nodiscard]] Made multiply_and_add(const Instruction& instruction) const;
  [[nodiscard]] Made begin_addition(const Instruction& instruction) const;
  [[nodiscard]] Made end_addition(const Instruction& instruction) const;
  [[nodiscard]] Made sum(const Instruction& instruction, const LanePair& source, unsigned shift, bool adds) const;

  bool take(const Made& made);
  void forget(unsigned index);
  void forget_written(const Instruction& instruction);
  void forget_levels();

  ExecBounds exec_;
  std::array<std::optional<LaneSum>, register_count> sums_ = {};  ///< by the register of the lower halves
  std::array<std::optional<ExecBounds::Level>, register_count> words_ = {};
  std::array<std::optional<Begun>, 4> begun_ = {};
};

}  // namespace softgpu::compute
