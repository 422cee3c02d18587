#include "softgpu/compute/program/lane_sums.hpp"

#include <algorithm>
#include <bit>

#include "softgpu/compute/program/written_registers.hpp"

namespace softgpu::compute {
namespace {

bool is_plain(const Operand& operand) { return !operand.negated && !operand.absolute && !operand.sign_extend; }

/// An instruction in the form that has no more to it than its operands.
bool is_plain(const Instruction& instruction) {
  return instruction.encoding != Encoding::sdwa && instruction.encoding != Encoding::dpp &&
         instruction.modifiers.empty() &&
         std::ranges::all_of(instruction.operands, [](const auto& operand) { return is_plain(operand); });
}

bool is_mask(const Operand& operand) { return operand.is_scalar(); }

}  // namespace

// --- Operands

bool LaneSums::is_word(const Operand& operand) const {
  const auto row = rows_.row(operand);
  return row && row->is_uniform();
}

std::optional<UniformPair> LaneSums::uniform_pair(const Operand& operand) const {
  if (operand.is_scalar() && operand.dwords == 2) return UniformPair{.operand = &operand};
  if (is_constant(operand)) return UniformPair{.operand = &operand};
  if (!are_vector_registers(operand, 2)) return std::nullopt;
  const auto is_uniform = [&](unsigned index) { return rows_.at(index) && rows_.at(index)->is_uniform(); };
  if (!is_uniform(operand.index) || !is_uniform(operand.index + 1)) return std::nullopt;
  return UniformPair{.low = operand.index, .high = operand.index + 1};
}

std::optional<LanePair> LaneSums::lane_pair(const Operand& operand) const {
  if (!are_vector_registers(operand, 2)) return std::nullopt;
  const unsigned high = operand.index + 1;
  const auto& sum = sums_.at(operand.index);
  if (sum && sum->high == high) return pair_of(LanePair::Kind::sum, operand.index, high);
  if (const auto& row = rows_.at(high); !row || !row->is_uniform()) return std::nullopt;
  return pair_of(LanePair::Kind::with_high, operand.index, high);
}

/// A register of which nothing is known.
bool LaneSums::is_unknown(const Operand& operand) const {
  return are_vector_registers(operand, 1) && !rows_.at(operand.index);
}

/// What an instruction takes as an index, which may be a guess.
std::optional<LanePair> LaneSums::index_pair(const Operand& operand) const {
  if (const auto pair = lane_pair(operand)) return pair;
  if (!are_vector_registers(operand, 2) || !rows_.at(operand.index) || rows_.at(operand.index + 1)) return std::nullopt;
  return pair_of(LanePair::Kind::guess, operand.index, operand.index + 1);
}

LanePair LaneSums::pair_of(LanePair::Kind kind, unsigned low, unsigned high) const {
  LanePair pair{kind, low, high};
  if (kind == LanePair::Kind::sum)
    pair.stride = sums_.at(low)->stride;
  else if (const auto& row = rows_.at(low))
    pair.stride = row->stride;
  return pair;
}

LaneSum LaneSums::sum_of(const LanePair& pair, unsigned high) const {
  LaneSum sum;
  if (pair.kind == LanePair::Kind::sum) sum = *sums_.at(pair.low);
  if (pair.kind == LanePair::Kind::sign_extended) sum.is_signed = true;
  if (pair.kind == LanePair::Kind::guess) sum.is_guess = true;
  sum.stride = pair.stride;
  sum.high = static_cast<std::uint8_t>(high);
  return sum;
}

const LaneSum* LaneSums::address(const Operand& pair) const {
  if (!are_vector_registers(pair, 2)) return nullptr;
  const auto& sum = sums_.at(pair.index);
  return sum && sum->has_base && sum->high == pair.index + 1 ? &*sum : nullptr;
}

// --- Instructions

/// The sum of a pair of registers that is the first operand.
LaneSums::Made LaneSums::sum(const Instruction& i, const LanePair& source, unsigned shift, bool adds) const {
  if (!are_vector_registers(i.operands[0], 2)) return {};
  LaneSum made = sum_of(source, i.operands[0].index + 1);
  if (made.shift + shift > most_shift) return {};
  made.shift = static_cast<std::uint8_t>(made.shift + shift);
  made.has_base |= adds;
  const unsigned low = i.operands[0].index;
  return {.step = {.kind = LaneSumStep::Kind::make_sum, .low = low, .source = source, .shift = shift},
          .sum = made,
          .low = low};
}

/// Of the halves of a pair of registers.
LaneSums::Made LaneSums::move(const Instruction& i) const {
  if (i.operands.size() != 2 || !are_vector_registers(i.operands[0], 1) || !are_vector_registers(i.operands[1], 1))
    return {};
  const Operand& from = i.operands[1];
  const unsigned to = i.operands[0].index;
  if (const auto& sum = sums_.at(from.index); sum && sum->high != to)
    return {.step = {.kind = LaneSumStep::Kind::make_sum,
                     .low = to,
                     .source = pair_of(LanePair::Kind::sum, from.index, sum->high)},
            .sum = *sum,
            .low = to};
  // The upper half of a pair whose lower half was copied before.
  if (to > 0 && sums_.at(to - 1) && sums_.at(to - 1)->high == from.index) {
    LaneSum sum = *sums_.at(to - 1);
    sum.high = static_cast<std::uint8_t>(to);
    return {.sum = sum, .low = to - 1};
  }
  return {};
}

/// v_mov_b64 v[0:1], v[2:3]
LaneSums::Made LaneSums::move_pair(const Instruction& i) const {
  if (i.operands.size() != 2) return {};
  const auto source = lane_pair(i.operands[1]);
  return source ? sum(i, *source, 0, false) : Made{};
}

/// v_ashrrev_i32 v1, 31, v0
LaneSums::Made LaneSums::extend_sign(const Instruction& i) const {
  if (i.operands.size() != 3 || constant_shift(i.operands[1], 31) != 31) return {};
  if (!are_vector_registers(i.operands[0], 1) || !are_vector_registers(i.operands[2], 1)) return {};
  const unsigned high = i.operands[0].index;
  const unsigned low = i.operands[2].index;
  if (high == low) return {};
  const LanePair source = pair_of(LanePair::Kind::sign_extended, low, high);
  return {.step = {.kind = LaneSumStep::Kind::make_sum, .low = low, .source = source},
          .sum = sum_of(source, high),
          .low = low};
}

/// v_lshlrev_b64 v[0:1], 2, v[0:1]
LaneSums::Made LaneSums::shift_left(const Instruction& i) const {
  if (i.operands.size() != 3) return {};
  const auto shift = constant_shift(i.operands[1], most_shift);
  const auto source = index_pair(i.operands[2]);
  return shift && source ? sum(i, *source, *shift, false) : Made{};
}

/// v_lshl_add_u64 v[0:1], v[2:3], 2, s[0:1]
LaneSums::Made LaneSums::shift_and_add(const Instruction& i) const {
  if (i.operands.size() != 4) return {};
  const auto shift = constant_shift(i.operands[2], 7);
  if (!shift) return {};
  auto source = index_pair(i.operands[1]);
  auto added = uniform_pair(i.operands[3]);
  const bool shifts_lanes = source && added;
  if (!shifts_lanes) {
    source = lane_pair(i.operands[3]);
    added = uniform_pair(i.operands[1]);
  }
  if (!source || !added) return {};
  Made made = sum(i, *source, shifts_lanes ? *shift : 0, true);
  made.step.added = added;
  made.step.added_shift = shifts_lanes ? 0 : *shift;
  return made;
}

/// v_mad_u64_u32 v[0:1], s[0:1], s2, v3, v[4:5]
LaneSums::Made LaneSums::multiply_and_add(const Instruction& i) const {
  if (i.operands.size() != 5) return {};
  const Operand& a = i.operands[2];
  const Operand& b = i.operands[3];
  if (is_word(a) && is_word(b)) {
    const auto source = lane_pair(i.operands[4]);
    if (!source) return {};
    Made made = sum(i, *source, 0, true);
    made.step.factors = {LaneRows::word(a), LaneRows::word(b)};
    return made;
  }
  const Operand& factor = is_constant(a) ? a : b;
  const Operand& lanes = is_constant(a) ? b : a;
  const auto added = uniform_pair(i.operands[4]);
  if (!added || !is_constant(factor) || !are_vector_registers(lanes, 1) || factor.value <= 0 || factor.value > 16 ||
      !std::has_single_bit(static_cast<std::uint64_t>(factor.value)))
    return {};
  const auto shift = static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(factor.value)));
  Made made = sum(i, pair_of(LanePair::Kind::zero_extended, lanes.index), shift, true);
  made.step.added = added;
  return made;
}

/// v_add_co_u32 v0, vcc, s2, v1
LaneSums::Made LaneSums::begin_addition(const Instruction& i) const {
  if (i.operands.size() != 4 || !are_vector_registers(i.operands[0], 1) || !is_mask(i.operands[1])) return {};
  const bool first_is_word = is_word(i.operands[2]);
  const Operand& common = i.operands[first_is_word ? 2 : 3];
  const Operand& own = i.operands[first_is_word ? 3 : 2];
  if (!is_word(common) || !are_vector_registers(own, 1)) return {};
  Begun begun{.carry = i.operands[1].index, .low = i.operands[0].index};
  if (const auto& sum = sums_.at(own.index); sum && sum->high != begun.low) {
    begun.has_sum = true;
    begun.sum = *sum;
  }
  begun.sum.level = exec_.top();
  const LanePair zero_extended = pair_of(LanePair::Kind::zero_extended, own.index);
  begun.stride = zero_extended.stride;
  return {.step = {.kind = LaneSumStep::Kind::begin_sum,
                   .low = begun.low,
                   .word = LaneRows::word(common),
                   .source = begun.has_sum ? pair_of(LanePair::Kind::sum, own.index) : zero_extended,
                   .zero_extended = zero_extended,
                   .carry = begun.carry},
          .begun = begun};
}

/// v_addc_co_u32 v1, vcc, v3, v2, vcc
LaneSums::Made LaneSums::end_addition(const Instruction& i) const {
  if (i.operands.size() != 5 || !are_vector_registers(i.operands[0], 1) || !is_mask(i.operands[4])) return {};
  const auto found =
      std::ranges::find_if(begun_, [&](const auto& begun) { return begun && begun->carry == i.operands[4].index; });
  const unsigned high = i.operands[0].index;
  if (found == begun_.end() || (*found)->low == high) return {};
  const Begun& begun = **found;
  Made made{.step = {.kind = LaneSumStep::Kind::end_sum, .low = begun.low, .carry = begun.carry}, .low = begun.low};
  const Operand& a = i.operands[2];
  const Operand& b = i.operands[3];
  const auto is_high = [&](const Operand& operand) {
    return begun.has_sum && are_vector_registers(operand, 1) && operand.index == begun.sum.high;
  };
  LaneSum sum;
  if ((is_high(a) && is_word(b)) || (is_high(b) && is_word(a))) {
    sum = begun.sum;
    made.step.source.kind = LanePair::Kind::sum;
    made.step.high_words[0] = LaneRows::word(is_high(a) && is_word(b) ? b : a);
  } else if (is_word(a) && is_word(b)) {
    made.step.source.kind = LanePair::Kind::zero_extended;
    made.step.high_words = {LaneRows::word(a), LaneRows::word(b)};
    sum.stride = begun.stride;
  } else if (begun.stride && ((is_unknown(a) && is_word(b)) || (is_unknown(b) && is_word(a)))) {
    const bool guesses_a = is_unknown(a);
    made.step.source = {.kind = LanePair::Kind::guess, .high = (guesses_a ? a : b).index};
    made.step.high_words[0] = LaneRows::word(guesses_a ? b : a);
    sum.stride = begun.stride;
    sum.is_guess = true;
  } else {
    return {};
  }
  sum.high = static_cast<std::uint8_t>(high);
  sum.has_base = true;
  made.sum = sum;
  return made;
}

LaneSums::Made LaneSums::make(const Instruction& i) const {
  if (i.mnemonic == "v_mov_b32") return move(i);
  if (i.mnemonic == "v_mov_b64") return move_pair(i);
  if (i.mnemonic == "v_ashrrev_i32") return extend_sign(i);
  if (i.mnemonic == "v_lshlrev_b64") return shift_left(i);
  if (i.mnemonic == "v_lshl_add_u64") return shift_and_add(i);
  if (i.mnemonic == "v_mad_u64_u32") return multiply_and_add(i);
  if (i.mnemonic == "v_add_co_u32") return begin_addition(i);
  if (i.mnemonic == "v_addc_co_u32") return end_addition(i);
  return {};
}

LaneSums::Made LaneSums::make_row(const Instruction& i) const {
  const auto row = rows_.make(i);
  if (!row) return {};
  return {
      .step = {.kind = LaneSumStep::Kind::make_row, .low = row->to, .row = row->step}, .row = row->row, .low = row->to};
}

/// Both halves of a VOPD instruction read before either writes. A move of what no vector register has can be told
/// nevertheless.
LaneSums::Made LaneSums::make_dual(const Instruction& half) const {
  const bool is_move = half.mnemonic == "v_mov_b32" && half.operands.size() == 2 && !half.operands[1].is_vector();
  return is_move && is_plain(half) ? make_row(half) : Made{};
}

std::vector<LaneSumStep> LaneSums::follow(const Instruction& instruction) {
  std::vector<Made> all;
  if (is_plain(instruction)) all = {make(instruction), make_row(instruction)};
  for (const Instruction& half : instruction.halves) all.push_back(make_dual(half));
  const unsigned top = exec_.top();
  exec_.follow(instruction);
  if (exec_.kept() <= top) forget_levels();
  forget_written(instruction);
  std::vector<LaneSumStep> steps;
  std::vector<LaneSumStep> words;  // last: the others read what the registers had before
  for (const Made& made : all) {
    if (!take(made)) continue;
    if (made.step.kind != LaneSumStep::Kind::none) steps.push_back(made.step);
    if (made.sum && made.sum->stride == 0 && !made.sum->is_guess) words.push_back(make_words(made.low, *made.sum));
  }
  steps.insert(steps.end(), words.begin(), words.end());
  return steps;
}

LaneSumStep LaneSums::make_words(unsigned low, const LaneSum& sum) {
  for (const unsigned index : {low, unsigned{sum.high}}) rows_.take({.step = {}, .row = {}, .to = index}, exec_.top());
  return {.kind = LaneSumStep::Kind::make_words, .low = low, .sum = sum};
}

/// Notes what an instruction made. Returns false if there is no room for it.
bool LaneSums::take(const Made& made) {
  if (made.begun) {
    const auto free = std::ranges::find_if(begun_, [](const auto& begun) { return !begun; });
    if (free == begun_.end()) return false;
    *free = made.begun;
  }
  if (made.sum) {
    sums_.at(made.low) = made.sum;
    sums_.at(made.low)->level = exec_.top();
  }
  if (made.row) rows_.take({.step = {}, .row = *made.row, .to = made.low}, exec_.top());
  return true;
}

// --- What does not hold any more

void LaneSums::forget(unsigned index) {
  if (index >= register_count) return;
  rows_.forget(index);
  sums_.at(index).reset();
  for (auto& sum : sums_)
    if (sum && sum->high == index) sum.reset();
  for (auto& begun : begun_) {
    if (begun && begun->low == index) begun.reset();
    if (begun && begun->has_sum && begun->sum.high == index) begun->has_sum = false;
  }
}

void LaneSums::forget_written(const Instruction& instruction) {
  for (const Instruction& half : instruction.halves) forget_written(half);
  const WrittenRegisters written(instruction);
  for (const auto& range : written.vectors())
    for (unsigned n = 0; n < range.count; ++n) forget(range.first + n);
  for (auto& begun : begun_)
    if (begun && (written.has_scalar(begun->carry) || written.has_scalar(begun->carry + 1))) begun.reset();
}

void LaneSums::forget_levels() {
  const unsigned kept = exec_.kept();
  for (auto& sum : sums_)
    if (sum && sum->level >= kept) sum.reset();
  rows_.forget_levels(kept);
  for (auto& begun : begun_)
    if (begun && begun->sum.level >= kept) begun.reset();
}

bool LaneSums::join(const LaneSums& other) {
  bool is_less = exec_.join(other.exec_);
  is_less |= rows_.join(other.rows_);
  forget_begun();
  for (unsigned index = 0; index < register_count; ++index) {
    if (auto& mine = sums_.at(index)) {
      const auto& its = other.sums_.at(index);
      if (!its || its->high != mine->high || its->shift != mine->shift || its->is_signed != mine->is_signed) {
        mine.reset();
        is_less = true;
      } else {
        const bool is_row = mine->stride == its->stride;
        is_less |= its->level > mine->level || (mine->has_base && !its->has_base) || (mine->stride && !is_row) ||
                   (its->is_guess && !mine->is_guess);
        mine->level = std::max(mine->level, its->level);
        mine->has_base &= its->has_base;
        mine->is_guess |= its->is_guess;
        if (!is_row) mine->stride.reset();
      }
    }
  }
  return is_less;
}

}  // namespace softgpu::compute
