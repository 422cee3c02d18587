// VALU integer instructions with a carry, with 64-bit operands, or that depend on the lane's number.
#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using Op = llvm::Instruction;
using enum Lane;

enum class Sum : std::uint8_t { add, subtract, subtract_reversed };
enum class CarryIn : std::uint8_t { no, yes };

/// v_add_co_u32 v0, vcc, v1, v2 and v_addc_co_u32 v0, vcc, v1, v2, vcc.
void add_carrying(HandlerTable& table, const char* mnemonic, Sum operation, CarryIn carry_in) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i, 2);
    const bool clamps = i.has("clamp");
    Chunks sums = {};
    Chunks carries = {};
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* a = vector.source(0, u32, chunk);
      Value* b = vector.source(1, u32, chunk);
      if (operation == Sum::subtract_reversed) std::swap(a, b);
      const bool adds = operation == Sum::add;
      const auto step = [&](Value* x, Value* y) { return adds ? e.ir.CreateAdd(x, y) : e.ir.CreateSub(x, y); };
      const auto wrapped = [&](Value* x, Value* y, Value* result) {
        return adds ? e.ir.CreateICmpULT(result, y) : e.ir.CreateICmpULT(x, y);
      };
      sums.at(chunk) = step(a, b);
      carries.at(chunk) = wrapped(a, b, sums.at(chunk));
      if (carry_in == CarryIn::yes) {
        Value* carry = e.ir.CreateZExt(vector.mask_source(2, chunk), a->getType());
        Value* sum = step(sums.at(chunk), carry);
        carries.at(chunk) = e.ir.CreateOr(carries.at(chunk), wrapped(sums.at(chunk), carry, sum));
        sums.at(chunk) = sum;
      }
      if (clamps) sums.at(chunk) = e.ir.CreateSelect(carries.at(chunk), e.splat(adds ? ~0U : 0U), sums.at(chunk));
    }
    vector.write(u32, sums);
    vector.write_mask(i.operands.at(1), carries);
  });
}

/// Shifts a number of 64 bits. By as many bits in all lanes, its halves: x86's vectors have 32 bits in more lanes, and
/// what addresses are put together of stays apart.
template <Op::BinaryOps operation>
void shift_wide(Emitter& e, const Instruction& i) {
  if (i.operands.size() != 3) e.unsupported("operands");
  VectorInstruction vector(e, i);
  Chunks results = {};
  if (i.operands.at(1).is_vector()) {
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      Value* const sources[] = {vector.source(0, u32, chunk), vector.source(1, u64, chunk)};
      results.at(chunk) = shift_by_first<operation>(e, sources);
    }
    return vector.write(u64, results);
  }
  Value* amount = e.ir.CreateExtractElement(vector.source(0, u32, 0), std::uint64_t{0});
  Value* is_half_gone = e.ir.CreateIsNotNull(e.ir.CreateAnd(amount, 32));
  Value* bits = e.splat(e.ir.CreateAnd(amount, 31));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* pair = vector.source(1, u64, chunk);
    Value* low = e.low_half(pair);
    Value* high = e.high_half(pair);
    const bool is_left = operation == Op::Shl;
    Value* shifted = e.ir.CreateBinOp(operation, is_left ? low : high, bits);
    Value* across =
        e.ir.CreateIntrinsic(is_left ? Intrinsic::fshl : Intrinsic::fshr, {low->getType()}, {high, low, bits});
    Value* gone = operation == Op::AShr ? e.ir.CreateAShr(high, 31) : e.splat(0U);
    Value* outer = e.ir.CreateSelect(is_half_gone, gone, shifted);
    Value* inner = e.ir.CreateSelect(is_half_gone, shifted, across);
    results.at(chunk) = is_left ? e.combine(outer, inner) : e.combine(inner, outer);
  }
  vector.write(u64, results);
}

/// v_mad_u64_u32 v[0:1], s[0:1], v2, v3, v[4:5]
void add_wide_multiply(HandlerTable& table, const char* mnemonic, bool is_signed) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i, 2);
    llvm::Type* wide = Emitter::lanes(e.i64());
    Chunks results = {};
    Chunks carries = {};
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      const auto widen = [&](Value* v) { return is_signed ? e.ir.CreateSExt(v, wide) : e.ir.CreateZExt(v, wide); };
      Value* product = e.ir.CreateMul(widen(vector.source(0, u32, chunk)), widen(vector.source(1, u32, chunk)));
      Value* addend = vector.source(2, u64, chunk);
      Value* sum = e.ir.CreateAdd(product, addend);
      results.at(chunk) = sum;
      if (!is_signed) {
        carries.at(chunk) = e.ir.CreateICmpULT(sum, addend);
        continue;
      }
      // Bit 64 of the exact sum: its sign, which the wrapped sum shows unless it overflowed.
      Value* overflow = e.ir.CreateAnd(e.ir.CreateXor(sum, product), e.ir.CreateXor(sum, addend));
      carries.at(chunk) = e.ir.CreateICmpSLT(e.ir.CreateXor(sum, overflow), e.splat64(0));
    }
    vector.write(u64, results);
    vector.write_mask(i.operands.at(1), carries);
  });
}

/// How many of S0's bits belong to lanes before this one, in the lower or upper half of the wavefront; plus S1.
void add_mask_count(HandlerTable& table, const char* mnemonic, unsigned first_lane) {
  table.add(mnemonic, [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i);
    Chunks results = {};
    for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
      std::vector<llvm::Constant*> before;
      for (unsigned lane = chunk * lanes_per_chunk; lane < (chunk + 1) * lanes_per_chunk; ++lane) {
        const unsigned count = lane < first_lane ? 0 : std::min(lane - first_lane, 32U);
        before.push_back(e.ir.getInt32(static_cast<std::uint32_t>((std::uint64_t{1} << count) - 1)));
      }
      Value* bits = e.ir.CreateAnd(vector.source(0, u32, chunk), llvm::ConstantVector::get(before));
      Value* count = e.ir.CreateUnaryIntrinsic(Intrinsic::ctpop, bits);
      results.at(chunk) = e.ir.CreateAdd(count, vector.source(1, u32, chunk));
    }
    vector.write(u32, results);
  });
}

void conditional_mask(Emitter& e, const Instruction& i) {
  VectorInstruction vector(e, i);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    results.at(chunk) =
        e.ir.CreateSelect(vector.mask_source(2, chunk), vector.source(1, b32, chunk), vector.source(0, b32, chunk));
  }
  vector.write(b32, results);
}

void swap_registers(Emitter& e, const Instruction& i) {
  const Operand& a = i.operands.at(0);
  const Operand& b = i.operands.at(1);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* old = e.vector(a, chunk);
    e.set_vector(a, chunk, e.vector(b, chunk));
    e.set_vector(b, chunk, old);
  }
}

/// v_qsad_pk_u16_u8 and its kin: sums of absolute differences of S1's bytes and four windows of S0.
template <bool skip_zero_reference>
Value* window_difference(Emitter& e, Value* window, Value* reference) {
  Value* sum = e.splat(0U);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const auto part = [&](Value* v) { return e.ir.CreateAnd(e.ir.CreateLShr(v, shift), e.splat(0xffU)); };
    Value* a = part(window);
    Value* b = part(reference);
    Value* difference = e.ir.CreateBinaryIntrinsic(Intrinsic::abs, e.ir.CreateSub(a, b), e.ir.getFalse());
    if (skip_zero_reference) difference = e.ir.CreateSelect(e.ir.CreateIsNull(b), e.splat(0U), difference);
    sum = e.ir.CreateAdd(sum, difference);
  }
  return sum;
}

template <bool skip_zero_reference>
Value* packed_windows(Emitter& e, Sources s) {
  Value* result = e.splat64(0);
  for (unsigned part = 0; part < 4; ++part) {
    Value* window = e.low_half(e.ir.CreateLShr(s[0], 8 * part));
    Value* sum = window_difference<skip_zero_reference>(e, window, s[1]);
    Value* total = e.ir.CreateAdd(e.ir.CreateZExt(sum, s[0]->getType()), e.ir.CreateLShr(s[2], 16 * part));
    result = e.ir.CreateOr(result, e.ir.CreateShl(e.ir.CreateAnd(total, e.splat64(0xffff)), 16 * part));
  }
  return result;
}

/// v_mqsad_u32_u8 v[0:3], v[4:5], v6, v[8:11]: four sums of 32 bits, each with its own addend.
void wide_windows(Emitter& e, const Instruction& i) {
  if (i.operands.size() != 4) e.unsupported("operands");
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* windows = e.vector64(i.operands[1], chunk);
    Value* reference = e.vector(i.operands[2], chunk);
    std::array<Value*, 4> sums;
    for (unsigned part = 0; part < 4; ++part) {
      Value* sum = window_difference<true>(e, e.low_half(e.ir.CreateLShr(windows, 8 * part)), reference);
      sums.at(part) = e.ir.CreateAdd(sum, e.vector(i.operands[3], chunk, part));
    }
    for (unsigned part = 0; part < 4; ++part) e.set_vector(i.operands[0], chunk, sums.at(part), part);
  }
}

}  // namespace

void add_vector_wide_integer(HandlerTable& table) {
  table.add("v_lshlrev_b64", shift_wide<Op::Shl>);
  table.add("v_lshrrev_b64", shift_wide<Op::LShr>);
  table.add("v_ashrrev_i64", shift_wide<Op::AShr>);
  add_vector_operation(table, "v_qsad_pk_u16_u8", {u64, {u64, u32, u64}}, packed_windows<false>);
  add_vector_operation(table, "v_mqsad_pk_u16_u8", {u64, {u64, u32, u64}}, packed_windows<true>);
  add_carrying(table, "v_add_co_u32", Sum::add, CarryIn::no);
  add_carrying(table, "v_sub_co_u32", Sum::subtract, CarryIn::no);
  add_carrying(table, "v_subrev_co_u32", Sum::subtract_reversed, CarryIn::no);
  add_carrying(table, "v_addc_co_u32", Sum::add, CarryIn::yes);
  add_carrying(table, "v_subb_co_u32", Sum::subtract, CarryIn::yes);
  add_carrying(table, "v_subbrev_co_u32", Sum::subtract_reversed, CarryIn::yes);
  add_wide_multiply(table, "v_mad_u64_u32", false);
  add_wide_multiply(table, "v_mad_i64_i32", true);
  add_mask_count(table, "v_mbcnt_lo_u32_b32", 0);
  add_mask_count(table, "v_mbcnt_hi_u32_b32", 32);
  table.add("v_mqsad_u32_u8", wide_windows);
  table.add("v_cndmask_b32", conditional_mask);
  table.add("v_swap_b32", swap_registers);
}

}  // namespace softgpu::compute
