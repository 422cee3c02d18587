#include "softgpu/compute/emit/address_sums.hpp"

#include "softgpu/compute/emit/emitter.hpp"

namespace softgpu::compute {

using llvm::Value;

void AddressSums::begin_block(std::int64_t offset) {
  if (!are_used()) return;
  const auto found = blocks_->find(offset);
  sums_ = found == blocks_->end() ? LaneSums(e_.wavefront_size()) : found->second;
}

void AddressSums::begin_instruction(const Instruction& instruction) {
  if (!are_used()) return;
  after_ = sums_;
  for (const LaneSumStep& step : after_.follow(instruction)) emit(step);
}

std::optional<AddressSums::Sum> AddressSums::find(const Operand& pair) {
  const LaneSum* known = are_used() ? sums_.address(pair) : nullptr;
  if (known == nullptr) return std::nullopt;
  Sum sum = load(parts_.at(pair.index));
  sum.shift = known->shift;
  sum.is_signed = known->is_signed;
  return sum;
}

// --- Slots

Value* AddressSums::word_slot(unsigned index) {
  Value*& slot = words_.at(index);
  if (slot == nullptr) slot = e_.entry_slot(e_.i32());
  return slot;
}

/// A path that leads to a use of a sum has made it, but may be emitted later.
void AddressSums::make_slots(Parts& parts) {
  if (parts.base != nullptr) return;
  parts.base = e_.entry_slot(e_.i64());
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    parts.index.at(chunk) = e_.entry_slot(Emitter::lanes(e_.i32()));
}

void AddressSums::store(Parts& parts, Value* base, const Chunks& index) {
  make_slots(parts);
  e_.ir.CreateStore(base, parts.base);
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) e_.ir.CreateStore(index.at(chunk), parts.index.at(chunk));
}

AddressSums::Sum AddressSums::load(Parts& parts) {
  make_slots(parts);
  Sum sum{.base = e_.ir.CreateLoad(e_.i64(), parts.base)};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    sum.index.at(chunk) = e_.ir.CreateLoad(Emitter::lanes(e_.i32()), parts.index.at(chunk));
  return sum;
}

// --- Values

Value* AddressSums::word(const LaneWord& word) {
  if (word.operand != nullptr) return e_.scalar(*word.operand);
  return e_.ir.CreateLoad(e_.i32(), word_slot(word.vector));
}

Value* AddressSums::wide_word(const LaneWord& word) { return e_.ir.CreateZExt(this->word(word), e_.i64()); }

Value* AddressSums::pair(const UniformPair& pair) {
  if (pair.operand != nullptr) return e_.scalar64(*pair.operand);
  return e_.ir.CreateOr(wide_word({.vector = pair.low}), e_.ir.CreateShl(wide_word({.vector = pair.high}), 32));
}

AddressSums::Sum AddressSums::source(const LanePair& pair) {
  if (pair.kind == LanePair::Kind::sum) return load(parts_.at(pair.low));
  Sum sum{.base = e_.ir.getInt64(0)};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) sum.index.at(chunk) = e_.vgpr(pair.low, chunk);
  if (pair.kind == LanePair::Kind::with_high) sum.base = e_.ir.CreateShl(wide_word({.vector = pair.high}), 32);
  return sum;
}

// --- Steps

void AddressSums::make_sum(const LaneSumStep& step) {
  const Sum sum = source(step.source);
  Value* base = e_.ir.CreateShl(sum.base, step.shift);
  if (step.added) base = e_.ir.CreateAdd(base, e_.ir.CreateShl(pair(*step.added), step.added_shift));
  if (step.factors)
    base = e_.ir.CreateAdd(base, e_.ir.CreateMul(wide_word((*step.factors)[0]), wide_word((*step.factors)[1])));
  store(parts_.at(step.low), base, sum.index);
}

void AddressSums::begin_sum(const LaneSumStep& step) {
  Value* added = wide_word(step.word);
  Halfway& halfway = halfway_[step.carry];
  if (step.source.kind == LanePair::Kind::sum) {
    const Sum sum = source(step.source);
    store(halfway.sum, e_.ir.CreateAdd(sum.base, added), sum.index);
  }
  store(halfway.zero_extended, added, source({LanePair::Kind::zero_extended, step.source.low}).index);
}

void AddressSums::end_sum(const LaneSumStep& step) {
  Halfway& halfway = halfway_[step.carry];
  const Sum lower = load(step.source.kind == LanePair::Kind::sum ? halfway.sum : halfway.zero_extended);
  Value* base = lower.base;
  for (const auto& high : step.high_words)
    if (high) base = e_.ir.CreateAdd(base, e_.ir.CreateShl(wide_word(*high), 32));
  store(parts_.at(step.low), base, lower.index);
}

void AddressSums::emit(const LaneSumStep& step) {
  switch (step.kind) {
  case LaneSumStep::Kind::make_word:
    e_.ir.CreateStore(word(step.word), word_slot(step.low));
    return;
  case LaneSumStep::Kind::make_sum:
    return make_sum(step);
  case LaneSumStep::Kind::begin_sum:
    return begin_sum(step);
  case LaneSumStep::Kind::end_sum:
    return end_sum(step);
  case LaneSumStep::Kind::none:
    return;
  }
}

}  // namespace softgpu::compute
