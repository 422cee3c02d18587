#include "lane_sum_machine.hpp"

#include <stdexcept>

namespace softgpu::compute {

namespace {

std::uint64_t sum_of(std::uint64_t base, std::uint32_t index, const LaneSum& sum) {
  const std::uint64_t wide =
      sum.is_signed ? static_cast<std::uint64_t>(static_cast<std::int32_t>(index)) : std::uint64_t{index};
  return base + (wide << sum.shift);
}

}  // namespace

// --- Registers

std::uint64_t LaneSumMachine::mask(unsigned index) const {
  const std::uint64_t low = scalar.at(index);
  return lanes_ == 32 ? low : low | std::uint64_t{scalar.at(index + 1)} << 32;
}

void LaneSumMachine::set_mask(unsigned index, std::uint64_t value) {
  scalar.at(index) = static_cast<std::uint32_t>(value);
  if (lanes_ == 64) scalar.at(index + 1) = static_cast<std::uint32_t>(value >> 32);
}

std::uint64_t LaneSumMachine::source_mask(const Operand& operand) const {
  return operand.is_scalar() ? mask(operand.index) : static_cast<std::uint64_t>(operand.value) & all();
}

std::uint32_t LaneSumMachine::word(const Operand& operand, unsigned lane) const {
  if (operand.is_vector()) return vector.at(operand.index).at(lane);
  return operand.is_scalar() ? scalar.at(operand.index) : static_cast<std::uint32_t>(operand.value);
}

std::uint64_t LaneSumMachine::wide(const Operand& operand, unsigned lane) const {
  const auto both = [](std::uint64_t low, std::uint64_t high) { return low | high << 32; };
  if (operand.is_vector()) return both(vector.at(operand.index).at(lane), vector.at(operand.index + 1).at(lane));
  if (operand.is_scalar()) return both(scalar.at(operand.index), scalar.at(operand.index + 1));
  return static_cast<std::uint64_t>(operand.value);
}

void LaneSumMachine::write(const Operand& to, unsigned lane, std::uint64_t value) {
  vector.at(to.index).at(lane) = static_cast<std::uint32_t>(value);
  if (to.dwords == 2) vector.at(to.index + 1).at(lane) = static_cast<std::uint32_t>(value >> 32);
}

// --- Instructions

void LaneSumMachine::add(const Instruction& i, bool has_carry) {
  const std::uint64_t carries_in = has_carry ? mask(i.operands[4].index) : 0;
  std::uint64_t carries = 0;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    if (!is_active(lane)) continue;
    const std::uint64_t sum =
        std::uint64_t{word(i.operands[2], lane)} + word(i.operands[3], lane) + (carries_in >> lane & 1);
    write(i.operands[0], lane, sum & 0xffffffff);
    carries |= (sum >> 32) << lane;
  }
  set_mask(i.operands[1].index, carries);
}

/// `name` is the scalar instruction's without "s_" and the size.
void LaneSumMachine::combine_masks(const Instruction& i, std::string_view name) {
  const bool saves = name.ends_with("_saveexec");
  if (saves) name.remove_suffix(9);
  const std::uint64_t before = exec();
  const std::uint64_t a = source_mask(i.operands[1]);
  const std::uint64_t b = saves ? before : name == "mov" ? 0 : source_mask(i.operands[2]);
  const std::uint64_t result = name == "mov"     ? a
                               : name == "and"   ? a & b
                               : name == "or"    ? a | b
                               : name == "xor"   ? a ^ b
                               : name == "andn2" ? a & ~b
                                                 : throw std::logic_error(i.text);
  set_mask(i.operands[0].index, saves ? before : result);
  if (saves) set_exec(result);
}

void LaneSumMachine::execute(const Instruction& i) {
  const std::string_view name = i.mnemonic;
  if (name.starts_with("s_cbranch_")) return;
  if (name.starts_with("s_")) return combine_masks(i, name.substr(2, name.size() - 6));
  if (name == "v_add_co_u32") return add(i, false);
  if (name == "v_addc_co_u32") return add(i, true);
  const LaneSumMachine before = *this;
  std::uint64_t compared = 0;
  for (unsigned lane = 0; lane < lanes_; ++lane) {
    if (!is_active(lane)) continue;
    const auto word_of = [&](unsigned n) { return before.word(i.operands.at(n), lane); };
    const auto wide_of = [&](unsigned n) { return before.wide(i.operands.at(n), lane); };
    if (name.starts_with("v_cmp")) {
      compared |= std::uint64_t{word_of(1) < word_of(2)} << lane;
      continue;
    }
    const auto bits_of = [&](unsigned n, unsigned first, unsigned count) {
      return word_of(n) >> first & ((std::uint64_t{1} << count) - 1);
    };
    const std::uint64_t value =
        name == "v_mov_b32"        ? word_of(1)
        : name == "v_add_u32"      ? word_of(1) + word_of(2)
        : name == "v_sub_u32"      ? word_of(1) - word_of(2)
        : name == "v_subrev_u32"   ? word_of(2) - word_of(1)
        : name == "v_add3_u32"     ? word_of(1) + word_of(2) + word_of(3)
        : name == "v_lshlrev_b32"  ? word_of(2) << word_of(1)
        : name == "v_lshl_add_u32" ? (word_of(1) << word_of(2)) + word_of(3)
        : name == "v_add_lshl_u32" ? (word_of(1) + word_of(2)) << word_of(3)
        : name == "v_mul_lo_u32"   ? word_of(1) * word_of(2)
        : name == "v_mul_u32_u24"  ? bits_of(1, 0, 24) * bits_of(2, 0, 24) & 0xffffffff
        : name == "v_mad_u32_u24"  ? (bits_of(1, 0, 24) * bits_of(2, 0, 24) + word_of(3)) & 0xffffffff
        : name == "v_and_b32"      ? word_of(1) & word_of(2)
        : name == "v_lshrrev_b32"  ? word_of(2) >> word_of(1)
        : name == "v_bfe_u32"      ? bits_of(1, word_of(2), word_of(3))
        : name == "v_ashrrev_i32"  ? static_cast<std::uint32_t>(static_cast<std::int32_t>(word_of(2)) >> word_of(1))
        : name == "v_lshlrev_b64"  ? wide_of(2) << word_of(1)
        : name == "v_lshl_add_u64" ? (wide_of(1) << word_of(2)) + wide_of(3)
        : name == "v_mad_u64_u32"  ? std::uint64_t{word_of(2)} * word_of(3) + wide_of(4)
                                   : throw std::logic_error(i.text);
    write(i.operands[0], lane, value);
  }
  if (name.starts_with("v_cmp")) set_mask(i.operands[0].index, compared);
  if (name.starts_with("v_cmpx")) set_exec(compared);
  if (name == "v_mad_u64_u32") set_mask(i.operands[1].index, 0);
}

// --- Steps

std::uint64_t LaneSumParts::word(const LaneWord& word) const {
  return word.operand != nullptr ? machine_.word(*word.operand, 0) : words_.at(word.vector);
}

std::uint64_t LaneSumParts::pair(const UniformPair& pair) const {
  if (pair.operand != nullptr) return machine_.wide(*pair.operand, 0);
  return words_.at(pair.low) | std::uint64_t{words_.at(pair.high)} << 32;
}

LaneSumParts::Parts LaneSumParts::source(const LanePair& pair) const {
  if (pair.kind == LanePair::Kind::sum) return sums_.at(pair.low);
  Parts parts{.index = machine_.vector.at(pair.low)};
  if (pair.stride) parts.start = words_.at(pair.low);
  if (pair.kind == LanePair::Kind::with_high) parts.base = std::uint64_t{words_.at(pair.high)} << 32;
  if (pair.kind == LanePair::Kind::guess) parts.holds = is_zero(pair.high);
  return parts;
}

bool LaneSumParts::is_zero(unsigned index) const {
  for (unsigned lane = 0; lane < machine_.lanes_; ++lane)
    if (machine_.is_active(lane) && machine_.vector.at(index)[lane] != 0) return false;
  return true;
}

std::uint32_t LaneSumParts::start(const LaneRowStep& step) const {
  std::uint64_t sum = 0;
  for (const auto& term : step.terms)
    if (term) sum += word(term->word) * term->factor;
  const std::uint64_t factor_mask = (std::uint64_t{1} << step.factor_bits) - 1;
  if (step.factors) sum += (word((*step.factors)[0]) & factor_mask) * (word((*step.factors)[1]) & factor_mask);
  return static_cast<std::uint32_t>((sum & 0xffffffff) >> step.first_bit & ((std::uint64_t{1} << step.bits) - 1));
}

void LaneSumParts::begin_with_ids(unsigned count) {
  for (unsigned index = 0; index < count; ++index) words_[index] = machine_.vector.at(index).at(0);
}

void LaneSumParts::take(const LaneSumStep& step) {
  switch (step.kind) {
  case LaneSumStep::Kind::none:
    return;
  case LaneSumStep::Kind::make_row:
    words_[step.low] = start(step.row);
    return;
  case LaneSumStep::Kind::make_sum: {
    Parts parts = source(step.source);
    parts.base <<= step.shift;
    if (step.added) parts.base += pair(*step.added) << step.added_shift;
    if (step.factors) parts.base += word((*step.factors)[0]) * word((*step.factors)[1]);
    sums_[step.low] = parts;
    return;
  }
  case LaneSumStep::Kind::begin_sum: {
    std::array<Parts, 2> both;
    if (step.source.kind == LanePair::Kind::sum) both[0] = source(step.source);
    both[1] = source(step.zero_extended);
    for (Parts& parts : both) parts.base += word(step.word);
    halfway_[step.carry] = both;
    return;
  }
  case LaneSumStep::Kind::end_sum: {
    Parts parts = halfway_.at(step.carry)[step.source.kind == LanePair::Kind::sum ? 0 : 1];
    for (const auto& high : step.high_words)
      if (high) parts.base += word(*high) << 32;
    if (step.source.kind == LanePair::Kind::guess) parts.holds = is_zero(step.source.high);
    sums_[step.low] = parts;
    return;
  }
  case LaneSumStep::Kind::make_words: {
    const std::uint64_t value = address_in_row(step.low, step.sum, 0);
    words_[step.low] = static_cast<std::uint32_t>(value);
    words_[step.sum.high] = static_cast<std::uint32_t>(value >> 32);
    return;
  }
  }
}

std::uint64_t LaneSumParts::address(unsigned low, const LaneSum& sum, unsigned lane) const {
  const Parts& parts = sums_.at(low);
  return sum_of(parts.base, parts.index.at(lane), sum);
}

std::uint64_t LaneSumParts::address_in_row(unsigned low, const LaneSum& sum, unsigned lane) const {
  const Parts& parts = sums_.at(low);
  return sum_of(parts.base, parts.start + lane * *sum.stride, sum);
}

}  // namespace softgpu::compute
