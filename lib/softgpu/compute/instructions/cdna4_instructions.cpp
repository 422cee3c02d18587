// What CDNA4 (gfx950) has that CDNA3 has not. Its matrix instructions, its loads and its conversions with a scale stand
// in files of their own.
#include <array>

#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using enum Lane;

/// Bit n of the result is the bit of a table of 8 that bit n of S0, S1 and S2 number.
void combine_by_table(Emitter& e, const Instruction& i, Lane lane) {
  VectorInstruction vector(e, i);
  const auto table = static_cast<std::uint32_t>(i.number("bitop3"));
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    std::array<Value*, 3> sources;
    for (unsigned n = 0; n < 3; ++n) sources.at(n) = vector.source(n, lane, chunk);
    Value* result = llvm::Constant::getNullValue(sources[0]->getType());
    for (unsigned number = 0; number < 8; ++number) {
      if ((table >> number & 1) == 0) continue;
      Value* term = nullptr;
      for (unsigned n = 0; n < 3; ++n) {
        Value* source = (number >> (2 - n) & 1) != 0 ? sources.at(n) : e.ir.CreateNot(sources.at(n));
        term = n == 0 ? source : e.ir.CreateAnd(term, source);
      }
      result = e.ir.CreateOr(result, term);
    }
    results.at(chunk) = result;
  }
  vector.write(lane, results, VectorInstruction::UpperHalf::preserved);
}

Value* next_random(Emitter& e, Sources s) {
  Value* is_high = e.ir.CreateICmpSLT(s[0], e.splat(0U));
  return e.ir.CreateXor(e.ir.CreateShl(s[0], 1), e.ir.CreateSelect(is_high, e.splat(197U), e.splat(0U)));
}

/// Swaps rows of 16 lanes: those of the second register whose number lacks `bit` with those of the first one, `bit`
/// further. Lanes that EXEC disables are read, too.
void swap_rows(Emitter& e, const Instruction& i, unsigned bit) {
  const Operand& first = i.operands.at(0);
  const Operand& second = i.operands.at(1);
  if (!first.is_vector() || !second.is_vector() || first.index == second.index) e.unsupported("operands");
  for (unsigned row = 0; row < e.chunks(); ++row) {
    if ((row & bit) != 0) continue;
    Value* upper = e.vgpr(first.index, row + bit);
    Value* lower = e.vgpr(second.index, row);
    e.set_vgpr(second.index, row, upper);
    e.set_vgpr(first.index, row + bit, lower);
  }
}

Value* pack_bfloats(Emitter& e, Sources s) {
  return e.ir.CreateOr(bfloat_bits(e, s[0]), e.ir.CreateShl(bfloat_bits(e, s[1]), 16));
}
Value* widen_bfloat(Emitter& e, Sources s) {
  return from_bits(e, e.ir.CreateShl(e.ir.CreateZExt(s[0], Emitter::lanes(e.i32())), 16));
}

/// To nearest even, whatever MODE says.
Value* pack_halves(Emitter& e, Sources s) {
  const auto half = [&](Value* number) {
    Value* rounded = round_to_half(e, number, 0);
    if ((e.known_mode.current() >> 6 & 2) == 0) rounded = flush_denormals(e, rounded);
    return e.ir.CreateBitCast(rounded, Emitter::lanes(e.ir.getInt16Ty()));
  };
  return pack(e, half(s[0]), half(s[1]));
}

/// S0 and S1, shifted right by S2 and saturated, become the bytes of a half.
template <int least, int greatest>
Value* shift_to_bytes(Emitter& e, Sources s) {
  const auto byte = [&](Value* number) {
    Value* shifted = e.ir.CreateAShr(number, e.ir.CreateAnd(s[2], e.splat(31U)));
    shifted = e.ir.CreateBinaryIntrinsic(Intrinsic::smax, shifted, e.splat(static_cast<std::uint32_t>(least)));
    shifted = e.ir.CreateBinaryIntrinsic(Intrinsic::smin, shifted, e.splat(static_cast<std::uint32_t>(greatest)));
    return e.ir.CreateAnd(shifted, e.splat(0xffU));
  };
  Value* both = e.ir.CreateOr(byte(s[0]), e.ir.CreateShl(byte(s[1]), 8));
  return e.ir.CreateTrunc(both, Emitter::lanes(e.ir.getInt16Ty()));
}

}  // namespace

void add_cdna4_instructions(HandlerTable& table) {
  table.add("v_bitop3_b32", [](auto& e, auto& i) { combine_by_table(e, i, u32); });
  table.add("v_bitop3_b16", [](auto& e, auto& i) { combine_by_table(e, i, u16); });
  add_vector_operation(table, "v_prng_b32", {u32, {u32}}, next_random);
  table.add("v_permlane16_swap_b32", [](auto& e, auto& i) { swap_rows(e, i, 1); });
  table.add("v_permlane32_swap_b32", [](auto& e, auto& i) { swap_rows(e, i, 2); });
  add_vector_operation(table, "v_cvt_pk_bf16_f32", {u32, {f32, f32}}, pack_bfloats);
  add_vector_operation(table, "v_cvt_pk_f16_f32", {u32, {f32, f32}}, pack_halves);
  add_vector_operation(table, "v_cvt_f32_bf16", {f32, {u16}}, widen_bfloat);
  constexpr OperationOptions keeps_other_half = {.upper = VectorInstruction::UpperHalf::preserved};
  add_vector_operation(table, "v_ashr_pk_i8_i32", {u16, {u32, u32, u32}}, shift_to_bytes<-128, 127>, keeps_other_half);
  add_vector_operation(table, "v_ashr_pk_u8_i32", {u16, {u32, u32, u32}}, shift_to_bytes<0, 255>, keeps_other_half);
  add_vector_operation(table, "v_minimum3_f32", {f32, {f32, f32, f32}}, extreme_of_three<Intrinsic::minimum>);
  add_vector_operation(table, "v_maximum3_f32", {f32, {f32, f32, f32}}, extreme_of_three<Intrinsic::maximum>);
}

}  // namespace softgpu::compute
