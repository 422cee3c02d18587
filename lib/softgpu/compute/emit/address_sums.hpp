// The parts of addresses that a kernel put together (program/lane_sums.hpp), and lane 0 of rows
// (program/lane_rows.hpp), kept beside its registers.
//
// A part that no access asks for costs nothing: parts are stack slots, of which LLVM keeps what is used.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "softgpu/compute/emit/ir_code.hpp"
#include "softgpu/compute/program/lane_sum_flow.hpp"

namespace softgpu::compute {

class Emitter;

/// start + lane * stride, modulo 2^32.
struct RowOfLanes {
  llvm::Value* start = nullptr;  ///< i32
  std::uint32_t stride = 0;
};

class AddressSums {
public:
  explicit AddressSums(Emitter& emitter) : e_(emitter) {}

  /// What is known where blocks begin, and how many registers begin with work-items' ids in rows. Without it, no
  /// address is found.
  void use(LaneSumsOfBlocks blocks, unsigned ids_in_rows);
  [[nodiscard]] bool are_used() const { return blocks_.has_value(); }

  /// The block at this offset begins.
  void begin_block(std::int64_t offset);
  /// Before an instruction is emitted, and after.
  void begin_instruction(const Instruction& instruction);
  void end_instruction() { sums_ = after_; }

  /// base + (index << shift), modulo 2^64.
  struct Sum {
    llvm::Value* base = nullptr;  ///< i64
    Chunks index = {};            ///< <16 x i32>
    unsigned shift = 0;
    bool is_signed = false;
    std::optional<RowOfLanes> row = {};  ///< that the index is
    llvm::Value* holds = nullptr;        ///< whether it is the address (i1); null: it is
  };
  /// The address in a pair of registers, as the current instruction reads it; nothing if it is not known as a sum.
  [[nodiscard]] std::optional<Sum> find(const Operand& pair);
  /// The row in a register, as the current instruction reads it.
  [[nodiscard]] std::optional<RowOfLanes> row(const Operand& vector);

private:
  /// Slots, which the first use makes.
  struct Parts {
    llvm::Value* base = nullptr;
    llvm::Value* start = nullptr;  ///< of the index, where it is a row
    llvm::Value* holds = nullptr;
    std::array<llvm::Value*, chunk_count> index = {};
  };
  /// A sum as its slots have it.
  struct Values {
    llvm::Value* base = nullptr;
    llvm::Value* start = nullptr;  ///< null, or anything, where the index is no row
    llvm::Value* holds = nullptr;  ///< whether its guess was right (i1); null: none was made
    Chunks index = {};
  };
  /// The lower half of a sum, from the addition that makes it to the one that makes the upper half: as a sum, and as a
  /// register whose upper half is zero.
  struct Halfway {
    Parts sum, zero_extended;
  };

  llvm::Value* word_slot(unsigned index);
  void make_slots(Parts& parts);
  void store(Parts& parts, const Values& values);
  Values load(Parts& parts);
  llvm::Value* word(const LaneWord& word);
  llvm::Value* wide_word(const LaneWord& word);
  llvm::Value* pair(const UniformPair& pair);
  Values source(const LanePair& pair);
  llvm::Value* is_zero(unsigned index);
  llvm::Value* start(const LaneRowStep& step);
  void emit(const LaneSumStep& step);
  void make_sum(const LaneSumStep& step);
  void begin_sum(const LaneSumStep& step);
  void end_sum(const LaneSumStep& step);
  void make_words(const LaneSumStep& step);

  Emitter& e_;
  std::optional<LaneSumsOfBlocks> blocks_;
  LaneSums sums_;
  LaneSums after_;
  std::array<Parts, LaneSums::register_count> parts_ = {};  ///< by the register of the lower halves
  std::array<llvm::Value*, LaneSums::register_count> words_ = {};
  std::map<unsigned, Halfway> halfway_;  ///< by the mask with the carry
};

}  // namespace softgpu::compute
