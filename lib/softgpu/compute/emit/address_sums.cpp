#include "softgpu/compute/emit/address_sums.hpp"

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/emit/lane_addresses.hpp"

namespace softgpu::compute {

using llvm::Value;

void AddressSums::use(LaneSumsOfBlocks blocks, unsigned ids_in_rows) {
  blocks_ = std::move(blocks);
  for (unsigned index = 0; index < ids_in_rows; ++index) words_.at(index) = e_.entry_slot(e_.first_work_item_id(index));
}

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
  const Values values = load(parts_.at(pair.index));
  Sum sum{.base = values.base, .index = values.index, .shift = known->shift, .is_signed = known->is_signed};
  if (known->stride) sum.row = RowOfLanes{values.start, *known->stride};
  if (known->is_guess) sum.holds = values.holds;
  return sum;
}

std::optional<RowOfLanes> AddressSums::row(const Operand& vector) {
  const auto known = are_used() && vector.is_vector() ? sums_.rows().row(vector) : std::nullopt;
  if (!known) return std::nullopt;
  return RowOfLanes{e_.ir.CreateLoad(e_.i32(), word_slot(vector.index)), known->stride};
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
  parts.start = e_.entry_slot(e_.i32());
  parts.holds = e_.entry_slot(e_.i1());
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    parts.index.at(chunk) = e_.entry_slot(Emitter::lanes(e_.i32()));
}

void AddressSums::store(Parts& parts, const Values& values) {
  make_slots(parts);
  e_.ir.CreateStore(values.base, parts.base);
  if (values.start != nullptr) e_.ir.CreateStore(values.start, parts.start);
  e_.ir.CreateStore(values.holds != nullptr ? values.holds : e_.ir.getTrue(), parts.holds);
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    e_.ir.CreateStore(values.index.at(chunk), parts.index.at(chunk));
}

AddressSums::Values AddressSums::load(Parts& parts) {
  make_slots(parts);
  Values values{.base = e_.ir.CreateLoad(e_.i64(), parts.base),
                .start = e_.ir.CreateLoad(e_.i32(), parts.start),
                .holds = e_.ir.CreateLoad(e_.i1(), parts.holds)};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    values.index.at(chunk) = e_.ir.CreateLoad(Emitter::lanes(e_.i32()), parts.index.at(chunk));
  return values;
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

AddressSums::Values AddressSums::source(const LanePair& pair) {
  if (pair.kind == LanePair::Kind::sum) return load(parts_.at(pair.low));
  Values values{.base = e_.ir.getInt64(0)};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) values.index.at(chunk) = e_.vgpr(pair.low, chunk);
  if (pair.kind == LanePair::Kind::with_high) values.base = e_.ir.CreateShl(wide_word({.vector = pair.high}), 32);
  if (pair.kind == LanePair::Kind::guess) values.holds = is_zero(pair.high);
  if (pair.stride) values.start = word({.vector = pair.low});
  return values;
}

/// Whether a register is 0 in all lanes that EXEC enables (i1).
Value* AddressSums::is_zero(unsigned index) {
  Value* any = zeros(e_);
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk)
    any = e_.ir.CreateOr(any, e_.ir.CreateSelect(e_.exec_mask(chunk), e_.vgpr(index, chunk), zeros(e_)));
  return e_.ir.CreateIsNull(mask_bits(e_, e_.ir.CreateIsNotNull(any)));
}

/// Lane 0 of a row.
Value* AddressSums::start(const LaneRowStep& step) {
  Value* sum = e_.ir.getInt32(0);
  for (const auto& term : step.terms)
    if (term) sum = e_.ir.CreateAdd(sum, e_.ir.CreateMul(word(term->word), e_.ir.getInt32(term->factor)));
  if (step.factors) {
    const auto factor = [&](const LaneWord& of) {
      return e_.ir.CreateAnd(word(of), e_.ir.getInt32(~std::uint32_t{0} >> (32 - step.factor_bits)));
    };
    sum = e_.ir.CreateAdd(sum, e_.ir.CreateMul(factor((*step.factors)[0]), factor((*step.factors)[1])));
  }
  return e_.ir.CreateAnd(e_.ir.CreateLShr(sum, step.first_bit), ~std::uint32_t{0} >> (32 - step.bits));
}

// --- Steps

void AddressSums::make_sum(const LaneSumStep& step) {
  Values sum = source(step.source);
  Value* base = e_.ir.CreateShl(sum.base, step.shift);
  if (step.added) base = e_.ir.CreateAdd(base, e_.ir.CreateShl(pair(*step.added), step.added_shift));
  if (step.factors)
    base = e_.ir.CreateAdd(base, e_.ir.CreateMul(wide_word((*step.factors)[0]), wide_word((*step.factors)[1])));
  sum.base = base;
  store(parts_.at(step.low), sum);
}

void AddressSums::begin_sum(const LaneSumStep& step) {
  Value* added = wide_word(step.word);
  Halfway& halfway = halfway_[step.carry];
  const auto store_sum = [&](Parts& parts, const LanePair& from) {
    Values values = source(from);
    values.base = e_.ir.CreateAdd(values.base, added);
    store(parts, values);
  };
  if (step.source.kind == LanePair::Kind::sum) store_sum(halfway.sum, step.source);
  store_sum(halfway.zero_extended, step.zero_extended);
}

void AddressSums::end_sum(const LaneSumStep& step) {
  Halfway& halfway = halfway_[step.carry];
  Values sum = load(step.source.kind == LanePair::Kind::sum ? halfway.sum : halfway.zero_extended);
  for (const auto& high : step.high_words)
    if (high) sum.base = e_.ir.CreateAdd(sum.base, e_.ir.CreateShl(wide_word(*high), 32));
  if (step.source.kind == LanePair::Kind::guess) sum.holds = is_zero(step.source.high);
  store(parts_.at(step.low), sum);
}

void AddressSums::make_words(const LaneSumStep& step) {
  const Values sum = load(parts_.at(step.low));
  Value* index = step.sum.is_signed ? e_.ir.CreateSExt(sum.start, e_.i64()) : e_.ir.CreateZExt(sum.start, e_.i64());
  Value* value = e_.ir.CreateAdd(sum.base, e_.ir.CreateShl(index, step.sum.shift));
  e_.ir.CreateStore(e_.ir.CreateTrunc(value, e_.i32()), word_slot(step.low));
  e_.ir.CreateStore(e_.ir.CreateTrunc(e_.ir.CreateLShr(value, 32), e_.i32()), word_slot(step.sum.high));
}

void AddressSums::emit(const LaneSumStep& step) {
  switch (step.kind) {
  case LaneSumStep::Kind::make_row:
    e_.ir.CreateStore(start(step.row), word_slot(step.low));
    return;
  case LaneSumStep::Kind::make_sum:
    return make_sum(step);
  case LaneSumStep::Kind::begin_sum:
    return begin_sum(step);
  case LaneSumStep::Kind::end_sum:
    return end_sum(step);
  case LaneSumStep::Kind::make_words:
    return make_words(step);
  case LaneSumStep::Kind::none:
    return;
  }
}

}  // namespace softgpu::compute
