#include "softgpu/compute/instructions/vector_instruction.hpp"

#include <llvm/ADT/APFloat.h>

#include "softgpu/compute/emit/rounding.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

bool is_floating(Lane lane) { return lane == Lane::f32 || lane == Lane::f64 || lane == Lane::f16; }
bool is_wide(Lane lane) { return lane == Lane::u64 || lane == Lane::f64; }
bool is_half(Lane lane) { return lane == Lane::u16 || lane == Lane::b16 || lane == Lane::f16; }

/// MODE's denormal bits for a type: 1 keeps them in inputs, 2 in outputs.
std::uint32_t denormals_kept(Emitter& e, Lane lane) {
  return (e.known_mode.current() >> (lane == Lane::f32 ? 4 : 6)) & 3;
}
bool is_ieee(Emitter& e) { return (e.known_mode.current() & 0x200) != 0; }

std::uint16_t half_bits(double value) {
  llvm::APFloat half(value);
  bool inexact = false;
  half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return static_cast<std::uint16_t>(half.bitcastToAPInt().getZExtValue());
}

struct Part {
  unsigned shift, bits;
};
Part part(Emitter& e, std::string_view name) {
  if (name == "DWORD") return {0, 32};
  if (name == "WORD_0") return {0, 16};
  if (name == "WORD_1") return {16, 16};
  if (name == "BYTE_0") return {0, 8};
  if (name == "BYTE_1") return {8, 8};
  if (name == "BYTE_2") return {16, 8};
  if (name == "BYTE_3") return {24, 8};
  e.unsupported();
}

}  // namespace

Value* half_to_float(Emitter& e, Value* half) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);  // the conversion is exact
  llvm::Type* dwords = Emitter::lanes(e.i32());
  const auto constant = [&](std::uint64_t value) { return llvm::ConstantInt::get(half->getType(), value); };
  Value* number = e.ir.CreateBitCast(half, Emitter::lanes(e.ir.getHalfTy()));
  number = e.ir.CreateFPExt(number, Emitter::lanes(e.ir.getFloatTy()));
  // The conversion quiets NaNs: where the half was signaling, from 0x7c01 to 0x7dff, the quiet bit is taken back.
  Value* above_infinity = e.ir.CreateSub(e.ir.CreateAnd(half, constant(0x7fff)), constant(0x7c01));
  Value* is_signaling = e.ir.CreateICmpULT(above_infinity, constant(0x1ff));
  Value* bits = e.ir.CreateBitCast(number, dwords);
  bits = e.ir.CreateSelect(is_signaling, e.ir.CreateAnd(bits, e.splat(~0x400000U)), bits);
  return e.ir.CreateBitCast(bits, number->getType());
}

Value* round_to_half(Emitter& e, Value* value) { return round_to_half(e, value, e.known_mode.current() >> 2 & 3); }

Value* round_to_half(Emitter& e, Value* value, std::uint32_t rounding) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  llvm::Type* halves = Emitter::lanes(e.ir.getHalfTy());
  llvm::Type* words = Emitter::lanes(e.ir.getInt16Ty());
  const auto word = [&](std::uint64_t bits) { return llvm::ConstantInt::get(words, bits); };
  Value* half = e.ir.CreateFPTrunc(value, halves);
  Value* bits = e.ir.CreateBitCast(half, words);
  const auto magnitude = [&] { return e.ir.CreateAnd(bits, word(0x7fff)); };

  // Where the host rounded to nearest and that was the wrong way, the right one is the next number.
  if (rounding != 0) {
    Value* back = e.ir.CreateFPExt(half, value->getType());
    Value* is_below = e.ir.CreateFCmpOLT(back, value);
    Value* is_above = e.ir.CreateFCmpOGT(back, value);
    Value* is_negative = e.ir.CreateICmpSLT(bits, word(0));
    Value* away = e.ir.CreateAdd(bits, word(1));
    Value* closer = e.ir.CreateSub(bits, word(1));
    // A half that is zero has the sign of the number that was rounded to it: its next half is away from zero.
    if (rounding == 1) bits = e.ir.CreateSelect(is_below, e.ir.CreateSelect(is_negative, closer, away), bits);
    if (rounding == 2) bits = e.ir.CreateSelect(is_above, e.ir.CreateSelect(is_negative, away, closer), bits);
    if (rounding == 3) bits = e.ir.CreateSelect(e.ir.CreateSelect(is_negative, is_below, is_above), closer, bits);
  }
  if ((e.known_mode.current() & mode_register::fp16_overflow) != 0) {
    Value* is_infinite = e.ir.CreateICmpEQ(magnitude(), word(0x7c00));
    Value* finite = e.ir.CreateFCmpONE(e.ir.CreateUnaryIntrinsic(Intrinsic::fabs, value),
                                       llvm::ConstantFP::getInfinity(value->getType()));
    Value* greatest = e.ir.CreateSub(bits, word(1));
    bits = e.ir.CreateSelect(e.ir.CreateAnd(is_infinite, finite), greatest, bits);
  }
  return e.ir.CreateBitCast(bits, halves);
}

Value* clamp_to_one(Emitter& e, Value* value) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);  // nothing is rounded
  const auto number = [&](double n) { return llvm::ConstantFP::get(value->getType(), n); };
  const bool nan_to_zero = !e.architecture().has_float_modes_in_descriptor || (e.known_mode.current() & 0x100) != 0;
  Value* below_one = e.ir.CreateSelect(e.ir.CreateFCmpOLT(value, number(1)), value, number(1));
  Value* clamped = e.ir.CreateSelect(e.ir.CreateFCmpOGT(value, number(0)), below_one, number(0));
  return nan_to_zero ? clamped : e.ir.CreateSelect(e.ir.CreateFCmpUNO(value, value), value, clamped);
}

Value* flush_denormals(Emitter& e, Value* value) {
  const unsigned width = value->getType()->getScalarSizeInBits();
  const std::uint64_t exponent = width == 64 ? 0x7ff0000000000000 : width == 32 ? 0x7f800000 : 0x7c00;
  llvm::Type* integers = Emitter::lanes(e.ir.getIntNTy(width));
  Value* bits = e.ir.CreateBitCast(value, integers);
  Value* is_small = e.ir.CreateIsNull(e.ir.CreateAnd(bits, llvm::ConstantInt::get(integers, exponent)));
  Value* zero = e.ir.CreateAnd(bits, llvm::ConstantInt::get(integers, std::uint64_t{1} << (width - 1)));
  return e.ir.CreateBitCast(e.ir.CreateSelect(is_small, zero, bits), value->getType());
}

VectorInstruction::VectorInstruction(Emitter& emitter, const Instruction& instruction, unsigned first_source)
    : e_(emitter), i_(instruction), first_source_(first_source),
      is_scalar_(instruction.mnemonic.starts_with("s_") || instruction.mnemonic.starts_with("v_s_")) {}

Value* VectorInstruction::raw(unsigned n, const Operand& operand, unsigned dword, unsigned chunk) {
  if (dword >= operand.dwords) e_.unsupported("operand " + operand.text + " is too narrow");
  if (n == 0 && i_.encoding == Encoding::dpp) return permute_dpp(e_, i_, operand.index + dword, chunk);
  return e_.vgpr(operand.index + dword, chunk);
}

Value* VectorInstruction::constant(const Operand& operand, Lane lane) {
  Operand plain = operand;
  plain.negated = plain.absolute = plain.sign_extend = false;
  if (is_wide(lane)) {
    if (lane == Lane::f64 && plain.is_literal) plain.value <<= 32;  // a literal is a double's upper half
    return e_.splat(e_.scalar64(plain));
  }
  if ((is_half(lane) || lane == Lane::packed_f16) && plain.kind == Operand::Kind::real) {
    // LLVM's authors have found 0 on some GPUs and a half on others (llvm-project pull requests 84106 and 198005).
    if (lane == Lane::u16) e_.unsupported("a floating-point constant as a 16-bit integer");
    return e_.splat(half_bits(plain.real));
  }
  return e_.splat(e_.scalar(plain));
}

/// The 8 or 16 bits that SDWA or op_sel pick.
Value* VectorInstruction::select_part(const Operand& operand, unsigned n, Value* dword) {
  if (i_.encoding == Encoding::sdwa && n < 2) {
    const auto name = i_.word(n == 0 ? "src0_sel" : "src1_sel");
    const Part selected = part(e_, name.value_or("DWORD"));
    if (selected.bits == 32) return dword;
    Value* top = e_.ir.CreateShl(dword, 32 - selected.bits - selected.shift);
    return operand.sign_extend ? e_.ir.CreateAShr(top, 32 - selected.bits) : e_.ir.CreateLShr(top, 32 - selected.bits);
  }
  if (operand.sign_extend) e_.unsupported("sext");
  return dword;
}

Value* VectorInstruction::to_lane(const Operand& operand, Lane lane, Value* bits) {
  llvm::Type* f32 = Emitter::lanes(e_.ir.getFloatTy());
  const bool flushes = (denormals_kept(e_, lane) & 1) == 0;
  switch (lane) {
  case Lane::b32:
    if (operand.absolute) bits = e_.ir.CreateAnd(bits, e_.splat(0x7fffffff));
    return operand.negated ? e_.ir.CreateXor(bits, e_.splat(0x80000000)) : bits;
  case Lane::b16:
    bits = e_.ir.CreateTrunc(bits, Emitter::lanes(e_.ir.getInt16Ty()));
    if (operand.absolute) bits = e_.ir.CreateAnd(bits, llvm::ConstantInt::get(bits->getType(), 0x7fff));
    return operand.negated ? e_.ir.CreateXor(bits, llvm::ConstantInt::get(bits->getType(), 0x8000)) : bits;
  case Lane::u32:
  case Lane::u64:
  case Lane::u16:
  case Lane::packed_f16:
    if (operand.negated || operand.absolute) e_.unsupported("an operand modifier");
    return lane == Lane::u16 ? e_.ir.CreateTrunc(bits, Emitter::lanes(e_.ir.getInt16Ty())) : bits;
  case Lane::f32:
    bits = e_.ir.CreateBitCast(bits, f32);
    break;
  case Lane::f64:
    bits = e_.ir.CreateBitCast(bits, Emitter::lanes(e_.ir.getDoubleTy()));
    break;
  case Lane::f16:
    bits = e_.ir.CreateTrunc(bits, Emitter::lanes(e_.ir.getInt16Ty()));
    bits = half_to_float(e_, flushes ? flush_denormals(e_, bits) : bits);
    break;
  }
  if (flushes && lane != Lane::f16) bits = flush_denormals(e_, bits);
  if (operand.absolute) bits = e_.ir.CreateUnaryIntrinsic(Intrinsic::fabs, bits);
  return operand.negated ? e_.ir.CreateFNeg(bits) : bits;
}

Value* VectorInstruction::source(unsigned n, Lane lane, unsigned chunk) {
  if (first_source_ + n >= i_.operands.size()) e_.unsupported("too few operands");
  const Operand& operand = i_.operands[first_source_ + n];
  Value* bits = nullptr;
  if (!operand.is_vector()) {
    bits = constant(operand, lane);
  } else if (is_wide(lane)) {
    bits = e_.combine(raw(n, operand, 0, chunk), raw(n, operand, 1, chunk));
  } else {
    if (operand.dwords != 1) e_.unsupported("operand " + operand.text + " is too wide");
    bits = raw(n, operand, 0, chunk);
  }
  if (!is_wide(lane)) {
    bits = select_part(operand, n, bits);
    const bool upper = is_half(lane) && i_.element("op_sel", n, 0) != 0;
    if (upper) bits = e_.ir.CreateLShr(bits, 16);
  }
  Value* value = to_lane(operand, lane, bits);
  return is_floating(lane) && is_foldable(n, operand) ? e_.ir.CreateUnaryIntrinsic(Intrinsic::arithmetic_fence, value)
                                                      : value;
}

/// If x is a signaling NaN, x * 1.0 and x - 0.0 are not x. The optimizer replaces them by x all the same: 1.0, 0.0, and
/// the zeros that DPP puts in, are hidden from it. So is what a scalar register holds: often a constant.
bool VectorInstruction::is_foldable(unsigned n, const Operand& operand) const {
  if (is_scalar_ || (n == 0 && i_.encoding == Encoding::dpp)) return true;
  const bool is_one = operand.kind == Operand::Kind::real && (operand.real == 1.0 || operand.real == -1.0);
  return is_one || (operand.kind == Operand::Kind::integer && (operand.value == 0 || operand.is_literal));
}

Value* VectorInstruction::old_destination(Lane lane, unsigned chunk) {
  const Operand& destination = i_.operands.at(0);
  if (is_scalar_) return to_lane(destination, lane, constant(destination, lane));
  if (!destination.is_vector()) e_.unsupported("destination " + destination.text);
  Value* bits = e_.vgpr(destination.index, chunk);
  if (is_wide(lane)) bits = e_.combine(bits, e_.vgpr(destination.index + 1, chunk));
  if (is_half(lane) && i_.element("op_sel", i_.operands.size() - first_source_, 0) != 0)
    bits = e_.ir.CreateLShr(bits, 16);
  return to_lane(destination, lane, bits);
}

Value* VectorInstruction::mask_source(unsigned n, unsigned chunk) {
  if (first_source_ + n >= i_.operands.size()) e_.unsupported("too few operands");
  return e_.mask_chunk(e_.mask(i_.operands[first_source_ + n]), chunk);
}

// "Output modifiers" in the ISA: they are ignored in IEEE mode and where output denormals are kept.
Value* VectorInstruction::modify_output(Lane lane, Value* value) {
  const bool is_single = lane == Lane::f32;
  const bool is_directed = ((e_.known_mode.current() >> (is_single ? 0 : 2)) & 3) != 0;
  if (is_directed && !rounding_shift(i_.mnemonic) && !is_independent_of_rounding(i_.mnemonic))
    e_.unsupported("a rounding mode other than to nearest even");
  const bool denormals = (denormals_kept(e_, lane) & 2) != 0;
  const auto number = [&](double n) { return llvm::ConstantFP::get(value->getType(), n); };

  double factor = 1;
  if (i_.has("mul")) factor = static_cast<double>(i_.number("mul"));
  if (i_.has("div")) factor = 1.0 / static_cast<double>(i_.number("div"));
  const bool flushes = !denormals && lane != Lane::f16;  // a half is denormal once it has been rounded
  if (flushes) value = flush_denormals(e_, value);
  if (factor != 1 && !denormals && !is_ieee(e_)) {
    value = e_.ir.CreateFAdd(e_.ir.CreateFMul(value, number(factor)), number(0));
    if (flushes) value = flush_denormals(e_, value);
  }
  return i_.has("clamp") ? clamp_to_one(e_, value) : value;
}

/// SDWA's destination selection.
Value* VectorInstruction::place_part(Value* value, Value* old) {
  const Part selected = part(e_, i_.word("dst_sel").value_or("DWORD"));
  const std::string_view unused = i_.word("dst_unused").value_or("UNUSED_PAD");
  if (selected.bits == 32) return value;
  const std::uint32_t field = ((1U << selected.bits) - 1) << selected.shift;
  Value* top = e_.ir.CreateShl(value, 32 - selected.bits);
  if (unused == "UNUSED_SEXT") {
    Value* extended = e_.ir.CreateAShr(top, 32 - selected.bits - selected.shift);
    return e_.ir.CreateAnd(extended, e_.splat(~((1U << selected.shift) - 1)));
  }
  Value* placed = e_.ir.CreateLShr(top, 32 - selected.bits - selected.shift);
  placed = e_.ir.CreateAnd(placed, e_.splat(field));
  if (unused == "UNUSED_PRESERVE") return e_.ir.CreateOr(placed, e_.ir.CreateAnd(old, e_.splat(~field)));
  return placed;
}

void VectorInstruction::write(Lane lane, Chunks values, UpperHalf upper) {
  e_.ir.setIsFPConstrained(false);  // the value has been rounded; code generators know few constrained comparisons
  const Operand& destination = i_.operands.at(0);
  if (!is_scalar_ && (!destination.is_vector() || destination.dwords != (is_wide(lane) ? 2 : 1)))
    e_.unsupported("destination " + destination.text);
  llvm::Type* dwords = Emitter::lanes(e_.i32());
  std::array<Value*, chunk_count> also = {};
  for (unsigned chunk = 0; chunk < e_.chunks(); ++chunk) {
    if (i_.encoding == Encoding::dpp) also.at(chunk) = dpp_write_mask(e_, i_, chunk);
  }
  for (unsigned chunk = 0; chunk < chunks(); ++chunk) {
    Value* value = values.at(chunk);
    if (is_floating(lane)) value = modify_output(lane, value);
    if (is_wide(lane)) {
      value = e_.ir.CreateBitCast(value, Emitter::lanes(e_.i64()));
      e_.set_vgpr(destination.index, chunk, e_.low_half(value), also.at(chunk));
      e_.set_vgpr(destination.index + 1, chunk, e_.high_half(value), also.at(chunk));
      continue;
    }
    if (lane == Lane::f16) {
      value = round_to_half(e_, value);
      if ((denormals_kept(e_, lane) & 2) == 0) value = flush_denormals(e_, value);
    }
    if (is_half(lane)) value = e_.ir.CreateZExt(e_.ir.CreateBitCast(value, Emitter::lanes(e_.ir.getInt16Ty())), dwords);
    value = e_.ir.CreateBitCast(value, dwords);
    if (is_scalar_) return e_.set_scalar(destination, e_.ir.CreateExtractElement(value, std::uint64_t{0}));

    Value* old = e_.vgpr(destination.index, chunk);
    if (i_.encoding == Encoding::sdwa) value = place_part(value, old);
    if (is_half(lane)) {
      const auto source_count = i_.operands.size() - first_source_;
      const bool is_plain = i_.encoding != Encoding::sdwa;  // SDWA has a field for the other bits
      if (i_.element("op_sel", source_count, 0) != 0) {
        value = e_.ir.CreateOr(e_.ir.CreateShl(value, 16), e_.ir.CreateAnd(old, e_.splat(0xffff)));
      } else if (upper == UpperHalf::preserved || (e_.architecture().keeps_upper_halves && is_plain)) {
        value = e_.ir.CreateOr(value, e_.ir.CreateAnd(old, e_.splat(0xffff0000)));
      }
    }
    e_.set_vgpr(destination.index, chunk, value, also.at(chunk));
  }
}

void VectorInstruction::write_mask(const Operand& destination, const Chunks& bits) {
  if (i_.encoding == Encoding::dpp && (i_.number("row_mask", 15) != 15 || i_.number("bank_mask", 15) != 15 ||
                                       (!i_.has("bound_ctrl") && !i_.has("dpp8"))))
    e_.unsupported("a lane mask written by a part of the lanes");
  e_.set_mask(destination, e_.ir.CreateAnd(e_.mask_from_chunks(bits), e_.exec()));
}

void add_vector_operation(HandlerTable& table, std::string mnemonic, const Signature& signature, LaneFunction function,
                          OperationOptions options) {
  const auto handler = [=](Emitter& e, const Instruction& i) {
    VectorInstruction vector(e, i);
    const bool clamps = options.clamped != nullptr && i.has("clamp");
    if (i.operands.size() != 1 + signature.sources.size() - (options.accumulates ? 1 : 0)) e.unsupported("operands");
    Chunks results = {};
    for (unsigned chunk = 0; chunk < vector.chunks(); ++chunk) {
      std::vector<Value*> sources;
      for (unsigned n = 0; n < signature.sources.size(); ++n) {
        const bool is_accumulator = options.accumulates && n + 1 == signature.sources.size();
        sources.push_back(is_accumulator ? vector.old_destination(signature.sources[n], chunk)
                                         : vector.source(n, signature.sources[n], chunk));
      }
      results.at(chunk) = (clamps ? options.clamped : function)(e, sources);
    }
    vector.write(signature.result, results, options.upper);
  };
  table.add(std::move(mnemonic), handler);
}

}  // namespace softgpu::compute
