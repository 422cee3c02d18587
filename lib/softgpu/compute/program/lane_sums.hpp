// Addresses that kernels put together from 32-bit halves, recognized as what they are: a number that all lanes have in
// common, and 32 bits of each lane's own.
//
// A compiler makes `base + index * 4` of v_ashrrev_i32, v_lshlrev_b64, v_add_co_u32 and v_addc_co_u32. The sum holds
// modulo 2^64, and by construction: no range of any part is assumed. It holds for the lanes that EXEC enabled; inactive
// lanes have anything in their registers. Where each lane's own bits are a row (lane_rows.hpp), the sum is known from
// lane 0's.
//
// A kernel may set the upper half of an index to 0 on several paths, on each for some of the lanes. Where such paths
// have met, nothing is known of it. A pair whose lower half is a row is then guessed to have zeros above: the guess is
// checked at run time, where the pair is used as an index.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/program/exec_bounds.hpp"
#include "softgpu/compute/program/lane_rows.hpp"

namespace softgpu::compute {

/// A pair of vector registers: base + (index << shift).
struct LaneSum {
  std::uint8_t high = 0;  ///< the register of the upper halves
  std::uint8_t shift = 0;
  bool is_signed = false;                   ///< the index
  bool has_base = false;                    ///< something was added: the pair may be an address
  bool is_guess = false;                    ///< it may turn out at run time to be something else
  std::optional<std::uint8_t> stride = {};  ///< of the index, if it is a row
  ExecBounds::Level level = 0;
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
    guess,          ///< `low`, if `high` is 0 in all lanes
  };
  Kind kind = Kind::sum;
  unsigned low = 0, high = 0;
  std::optional<std::uint8_t> stride = {};  ///< of `low`, or of the sum's index, if it is a row
};

/// What an instruction does to sums, for the emitter, which does it before the instruction writes its registers.
struct LaneSumStep {
  enum class Kind : std::uint8_t {
    none,
    make_row,   ///< `low` has `row` in lane 0
    make_sum,   ///< the sum of `low` is source << shift, and `added`, or the product of `factors`, unless they are null
    begin_sum,  ///< the lower half of a sum: `source`, or `zero_extended`, and `word`; `carry` names it
    end_sum,    ///< the sum of `low` is the one of `carry`, with `high_words` in the upper half; source.kind says which
    make_words,  ///< the sum of `low`, which is `sum`, is the same in all lanes: so are its registers
  };
  Kind kind = Kind::none;
  unsigned low = 0;
  LaneRowStep row = {};
  LaneWord word = {};
  LanePair source = {};
  LanePair zero_extended = {};
  unsigned shift = 0;
  std::optional<UniformPair> added = {};
  unsigned added_shift = 0;
  std::optional<std::array<LaneWord, 2>> factors = {};
  unsigned carry = 0;
  std::array<std::optional<LaneWord>, 2> high_words = {};
  LaneSum sum = {};
};

/// What is known of the vector registers at a place of a program.
class LaneSums {
public:
  explicit LaneSums(unsigned lanes = 64) : exec_(lanes) {}

  static constexpr unsigned register_count = LaneRows::register_count;
  static constexpr unsigned most_shift = 4;

  /// See LaneRows.
  void begin_with_ids(unsigned count) { rows_.begin_with_ids(count); }

  /// The sum that a pair of registers has, if it may be an address.
  [[nodiscard]] const LaneSum* address(const Operand& pair) const;
  [[nodiscard]] const LaneRows& rows() const { return rows_; }

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
    std::optional<std::uint8_t> stride = {};  ///< of the vector source, if it is a row
  };
  struct Made {
    LaneSumStep step = {};
    std::optional<LaneRow> row = {};
    std::optional<LaneSum> sum = {};
    std::optional<Begun> begun = {};
    unsigned low = 0;
  };

  [[nodiscard]] bool is_word(const Operand& operand) const;
  [[nodiscard]] std::optional<UniformPair> uniform_pair(const Operand& operand) const;
  [[nodiscard]] std::optional<LanePair> lane_pair(const Operand& operand) const;
  [[nodiscard]] std::optional<LanePair> index_pair(const Operand& operand) const;
  [[nodiscard]] bool is_unknown(const Operand& operand) const;
  [[nodiscard]] LanePair pair_of(LanePair::Kind kind, unsigned low, unsigned high = 0) const;
  [[nodiscard]] LaneSum sum_of(const LanePair& pair, unsigned high) const;

  [[nodiscard]] Made make(const Instruction& instruction) const;
  [[nodiscard]] Made make_row(const Instruction& instruction) const;
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
  [[nodiscard]] LaneSumStep make_words(unsigned low, const LaneSum& sum);
  void forget(unsigned index);
  void forget_written(const Instruction& instruction);
  void forget_levels();

  ExecBounds exec_;
  std::array<std::optional<LaneSum>, register_count> sums_ = {};  ///< by the register of the lower halves
  LaneRows rows_;
  std::array<std::optional<Begun>, 4> begun_ = {};
};

}  // namespace softgpu::compute
