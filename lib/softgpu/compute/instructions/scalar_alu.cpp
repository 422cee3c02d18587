// SOP1, SOP2, SOPC and SOPK arithmetic, as the CDNA2 ISA's "Scalar ALU Operations" has it.
#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/instructions/families.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using llvm::Intrinsic::ID;
namespace Intrinsic = llvm::Intrinsic;

/// What a scalar operation leaves in its destination and, unless null, in SCC.
struct Result {
  Value* value;
  Value* scc = nullptr;
};
using Unary = Result (*)(Emitter&, Value*);
using Binary = Result (*)(Emitter&, Value*, Value*);

unsigned bits_of(Value* value) { return value->getType()->getIntegerBitWidth(); }
Value* constant(Value* like, std::uint64_t value) { return llvm::ConstantInt::get(like->getType(), value); }
Result with_nonzero(Emitter& e, Value* value) { return {value, e.ir.CreateIsNotNull(value)}; }

/// A shift's amount, as wide as the shifted value and modulo that width.
Value* amount(Emitter& e, Value* shifted, Value* count) {
  return e.ir.CreateAnd(e.ir.CreateZExtOrTrunc(count, shifted->getType()), bits_of(shifted) - 1);
}

Result with_overflow(Emitter& e, ID intrinsic, Value* a, Value* b) {
  Value* pair = e.ir.CreateBinaryIntrinsic(intrinsic, a, b);
  return {e.ir.CreateExtractValue(pair, 0), e.ir.CreateExtractValue(pair, 1)};
}

Result add_with_carry(Emitter& e, Value* a, Value* b) {
  Value* sum = e.ir.CreateAdd(e.ir.CreateZExt(a, e.i64()), e.ir.CreateZExt(b, e.i64()));
  sum = e.ir.CreateAdd(sum, e.ir.CreateZExt(e.scc(), e.i64()));
  return {e.ir.CreateTrunc(sum, e.i32()), e.ir.CreateICmpUGT(sum, e.ir.getInt64(0xffffffff))};
}

Result subtract_with_borrow(Emitter& e, Value* a, Value* b) {
  Value* difference = e.ir.CreateSub(e.ir.CreateZExt(a, e.i64()), e.ir.CreateZExt(b, e.i64()));
  difference = e.ir.CreateSub(difference, e.ir.CreateZExt(e.scc(), e.i64()));
  return {e.ir.CreateTrunc(difference, e.i32()), e.ir.CreateICmpSLT(difference, e.ir.getInt64(0))};
}

/// The smaller or larger operand; SCC says whether it was the first.
template <llvm::CmpInst::Predicate predicate>
Result choose(Emitter& e, Value* a, Value* b) {
  Value* first = e.ir.CreateICmp(predicate, a, b);
  return {e.ir.CreateSelect(first, a, b), first};
}

Result bit_field_extract(Emitter& e, Value* source, Value* field, bool is_signed) {
  const unsigned bits = bits_of(source);
  Value* offset = amount(e, source, field);
  Value* width = e.ir.CreateZExtOrTrunc(e.ir.CreateAnd(e.ir.CreateLShr(field, 16), 0x7f), source->getType());
  // Shifts the field up to the top bits, which cuts off bits beyond the source's end, then down to bit 0.
  Value* room = e.ir.CreateSub(constant(source, bits), offset);
  width = e.ir.CreateBinaryIntrinsic(Intrinsic::umin, width, room);
  Value* left = e.ir.CreateSub(room, width);
  Value* right = e.ir.CreateAnd(e.ir.CreateSub(constant(source, bits), width), bits - 1);
  Value* top = e.ir.CreateShl(source, e.ir.CreateAnd(left, bits - 1));
  Value* result = is_signed ? e.ir.CreateAShr(top, right) : e.ir.CreateLShr(top, right);
  return with_nonzero(e, e.ir.CreateSelect(e.ir.CreateIsNull(width), constant(source, 0), result));
}

Value* bit_field_mask(Emitter& e, llvm::Type* type, Value* width, Value* offset) {
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* ones = e.ir.CreateSub(e.ir.CreateShl(one, amount(e, one, width)), one);
  return e.ir.CreateShl(ones, amount(e, one, offset));
}

Result multiply_high(Emitter& e, Value* a, Value* b, bool is_signed) {
  const auto widen = [&](Value* v) { return is_signed ? e.ir.CreateSExt(v, e.i64()) : e.ir.CreateZExt(v, e.i64()); };
  return {e.ir.CreateTrunc(e.ir.CreateLShr(e.ir.CreateMul(widen(a), widen(b)), 32), e.i32())};
}

template <unsigned shift>
Result shift_and_add(Emitter& e, Value* a, Value* b) {
  Value* sum = e.ir.CreateAdd(e.ir.CreateShl(e.ir.CreateZExt(a, e.i64()), shift), e.ir.CreateZExt(b, e.i64()));
  return {e.ir.CreateTrunc(sum, e.i32()), e.ir.CreateICmpUGT(sum, e.ir.getInt64(0xffffffff))};
}

Result pack_halves(Emitter& e, Value* low, Value* high) {
  return {e.ir.CreateOr(e.ir.CreateAnd(low, 0xffff), e.ir.CreateShl(high, 16))};
}
Value* upper(Emitter& e, Value* value) { return e.ir.CreateLShr(value, 16); }

/// The number of the first bit that a counting intrinsic finds, or -1.
Result find_bit(Emitter& e, ID intrinsic, Value* source) {
  Value* position = e.ir.CreateBinaryIntrinsic(intrinsic, source, e.ir.getFalse());
  Value* none = e.ir.CreateIsNull(source);
  return {e.ir.CreateSelect(none, e.ir.getInt32(~0U), e.ir.CreateZExtOrTrunc(position, e.i32()))};
}

/// Counts the bits below the sign that equal it: -1 where all do.
Result find_sign_change(Emitter& e, Value* source) {
  Value* changed = e.ir.CreateXor(source, e.ir.CreateAShr(source, bits_of(source) - 1));
  return find_bit(e, Intrinsic::ctlz, changed);
}

Result count_bits(Emitter& e, Value* source) {
  Value* count = e.ir.CreateUnaryIntrinsic(Intrinsic::ctpop, source);
  return with_nonzero(e, e.ir.CreateZExtOrTrunc(count, e.i32()));
}

/// One bit for each group of four: whether any of them is set, in the group's lowest position.
Value* any_of_quad(Emitter& e, Value* source) {
  Value* any = e.ir.CreateOr(source, e.ir.CreateLShr(source, 1));
  any = e.ir.CreateOr(any, e.ir.CreateLShr(any, 2));
  return e.ir.CreateAnd(any, constant(source, 0x1111111111111111));
}

Result quad_mask(Emitter& e, Value* source) {
  Value* quads = any_of_quad(e, source);
  Value* result = constant(source, 0);
  for (unsigned quad = 0; quad < bits_of(source) / 4; ++quad)
    result = e.ir.CreateOr(result, e.ir.CreateAnd(e.ir.CreateLShr(quads, 3 * quad), constant(source, 1ULL << quad)));
  return with_nonzero(e, result);
}

Result replicate_bits(Emitter& e, Value* source) {
  Value* spread = e.ir.CreateZExt(source, e.i64());
  constexpr std::uint64_t masks[] = {0x0000ffff0000ffff, 0x00ff00ff00ff00ff, 0x0f0f0f0f0f0f0f0f, 0x3333333333333333,
                                     0x5555555555555555};
  for (unsigned step = 0, shift = 16; step < 5; ++step, shift /= 2)
    spread = e.ir.CreateAnd(e.ir.CreateOr(spread, e.ir.CreateShl(spread, shift)), masks[step]);
  return {e.ir.CreateOr(spread, e.ir.CreateShl(spread, 1))};
}

Value* read(Emitter& e, const Operand& operand, unsigned bits) {
  return bits == 64 ? e.scalar64(operand) : e.scalar(operand);
}

void write(Emitter& e, const Operand& destination, Result result) {
  e.set_scalar(destination, result.value);
  if (result.scc != nullptr) e.set_scc(result.scc);
}

/// EXEC, or its lower half for the forms that wavefronts of 32 lanes use.
Value* execution_mask(Emitter& e, unsigned bits) {
  return bits == 64 ? e.sgpr_pair(scalar_register::exec) : e.sgpr(scalar_register::exec);
}
void set_execution_mask(Emitter& e, Result result) {
  if (bits_of(result.value) == 64)
    e.set_sgpr_pair(scalar_register::exec, result.value);
  else
    e.set_sgpr(scalar_register::exec, result.value);
}

class ScalarTable {
public:
  explicit ScalarTable(HandlerTable& table) : table_(table) {}

  /// `bits` are those of the two sources.
  void binary(const char* mnemonic, unsigned bits0, unsigned bits1, Binary operation) {
    table_.add(mnemonic, [=](Emitter& e, const Instruction& i) {
      write(e, i.operands.at(0), operation(e, read(e, i.operands.at(1), bits0), read(e, i.operands.at(2), bits1)));
    });
  }
  void unary(const char* mnemonic, unsigned bits, Unary operation) {
    table_.add(mnemonic, [=](Emitter& e, const Instruction& i) {
      write(e, i.operands.at(0), operation(e, read(e, i.operands.at(1), bits)));
    });
  }
  /// A bitwise operation in its forms: _b32, _b64, and the forms that save EXEC and combine it.
  void logic(const std::string& name, Binary operation) {
    binary((name + "_b32").c_str(), 32, 32, operation);
    binary((name + "_b64").c_str(), 64, 64, operation);
    save_exec(name, operation);
  }
  void save_exec(const std::string& name, Binary operation) {
    for (const unsigned bits : {32U, 64U}) {
      table_.add(name + "_saveexec_b" + std::to_string(bits), [=](Emitter& e, const Instruction& i) {
        Value* before = execution_mask(e, bits);
        const Result result = operation(e, read(e, i.operands.at(1), bits), before);
        e.set_scalar(i.operands.at(0), before);
        set_execution_mask(e, result);
        e.set_scc(result.scc);
      });
    }
  }
  void write_exec(const std::string& name, Binary operation) {
    for (const unsigned bits : {32U, 64U}) {
      table_.add(name + "_wrexec_b" + std::to_string(bits), [=](Emitter& e, const Instruction& i) {
        const Result result = operation(e, read(e, i.operands.at(1), bits), execution_mask(e, bits));
        set_execution_mask(e, result);
        write(e, i.operands.at(0), result);
      });
    }
  }
  void compare(const std::string& name, llvm::CmpInst::Predicate predicate, unsigned bits) {
    table_.add("s_cmp_" + name, [=](Emitter& e, const Instruction& i) {
      e.set_scc(e.ir.CreateICmp(predicate, read(e, i.operands.at(0), bits), read(e, i.operands.at(1), bits)));
    });
    if (bits == 64) return;
    table_.add("s_cmpk_" + name, [=](Emitter& e, const Instruction& i) {
      const auto value = static_cast<std::uint16_t>(i.operands.at(1).value);
      const bool is_signed = name.ends_with("i32");
      Value* immediate = is_signed ? e.ir.getInt32(static_cast<std::uint32_t>(static_cast<std::int16_t>(value)))
                                   : e.ir.getInt32(value);
      e.set_scc(e.ir.CreateICmp(predicate, e.scalar(i.operands.at(0)), immediate));
    });
  }
  /// SOPK: the destination is the first source, a signed 16-bit constant the second.
  void with_constant(const char* mnemonic, Binary operation) {
    table_.add(mnemonic, [=](Emitter& e, const Instruction& i) {
      const auto value = static_cast<std::int16_t>(i.operands.at(1).value);
      write(e, i.operands.at(0),
            operation(e, e.scalar(i.operands.at(0)), e.ir.getInt32(static_cast<std::uint32_t>(value))));
    });
  }
  void bit_compare(const char* mnemonic, unsigned bits, bool expected) {
    table_.add(mnemonic, [=](Emitter& e, const Instruction& i) {
      Value* source = read(e, i.operands.at(0), bits);
      Value* bit = e.ir.CreateLShr(source, amount(e, source, e.scalar(i.operands.at(1))));
      e.set_scc(e.ir.CreateICmpEQ(e.ir.CreateAnd(bit, 1), constant(source, expected ? 1 : 0)));
    });
  }
  void bit_set(const char* mnemonic, unsigned bits, bool value) {
    table_.add(mnemonic, [=](Emitter& e, const Instruction& i) {
      Value* old = read(e, i.operands.at(0), bits);
      Value* bit = e.ir.CreateShl(constant(old, 1), amount(e, old, e.scalar(i.operands.at(1))));
      e.set_scalar(i.operands.at(0), value ? e.ir.CreateOr(old, bit) : e.ir.CreateAnd(old, e.ir.CreateNot(bit)));
    });
  }
  void conditional_move(const char* mnemonic, unsigned bits) {
    table_.add(mnemonic, [=](Emitter& e, const Instruction& i) {
      Value* source = read(e, i.operands.at(1), bits);
      if (i.mnemonic == "s_cmovk_i32") source = e.ir.CreateSExt(e.ir.CreateTrunc(source, e.ir.getInt16Ty()), e.i32());
      e.set_scalar(i.operands.at(0), e.ir.CreateSelect(e.scc(), source, read(e, i.operands.at(0), bits)));
    });
  }

private:
  HandlerTable& table_;
};

void add_arithmetic(ScalarTable& t) {
  using P = llvm::CmpInst;
  t.binary("s_add_u32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_overflow(e, Intrinsic::uadd_with_overflow, a, b); });
  t.binary("s_sub_u32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_overflow(e, Intrinsic::usub_with_overflow, a, b); });
  t.binary("s_add_i32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_overflow(e, Intrinsic::sadd_with_overflow, a, b); });
  t.binary("s_sub_i32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_overflow(e, Intrinsic::ssub_with_overflow, a, b); });
  t.binary("s_addc_u32", 32, 32, add_with_carry);
  t.binary("s_subb_u32", 32, 32, subtract_with_borrow);
  t.binary("s_min_i32", 32, 32, choose<P::ICMP_SLT>);
  t.binary("s_min_u32", 32, 32, choose<P::ICMP_ULT>);
  t.binary("s_max_i32", 32, 32, choose<P::ICMP_SGT>);
  t.binary("s_max_u32", 32, 32, choose<P::ICMP_UGT>);
  t.binary("s_mul_i32", 32, 32, [](auto& e, auto* a, auto* b) { return Result{e.ir.CreateMul(a, b)}; });
  t.binary("s_mul_hi_u32", 32, 32, [](auto& e, auto* a, auto* b) { return multiply_high(e, a, b, false); });
  t.binary("s_mul_hi_i32", 32, 32, [](auto& e, auto* a, auto* b) { return multiply_high(e, a, b, true); });
  t.binary("s_add_nc_u64", 64, 64, [](auto& e, auto* a, auto* b) { return Result{e.ir.CreateAdd(a, b)}; });
  t.binary("s_sub_nc_u64", 64, 64, [](auto& e, auto* a, auto* b) { return Result{e.ir.CreateSub(a, b)}; });
  t.binary("s_mul_u64", 64, 64, [](auto& e, auto* a, auto* b) { return Result{e.ir.CreateMul(a, b)}; });
  t.binary("s_lshl1_add_u32", 32, 32, shift_and_add<1>);
  t.binary("s_lshl2_add_u32", 32, 32, shift_and_add<2>);
  t.binary("s_lshl3_add_u32", 32, 32, shift_and_add<3>);
  t.binary("s_lshl4_add_u32", 32, 32, shift_and_add<4>);
  t.binary("s_absdiff_i32", 32, 32, [](auto& e, auto* a, auto* b) {
    Value* difference = e.ir.CreateSub(a, b);
    return with_nonzero(e, e.ir.CreateBinaryIntrinsic(Intrinsic::abs, difference, e.ir.getFalse()));
  });
  t.unary("s_abs_i32", 32, [](auto& e, auto* a) {
    return with_nonzero(e, e.ir.CreateBinaryIntrinsic(Intrinsic::abs, a, e.ir.getFalse()));
  });
  t.with_constant("s_addk_i32",
                  [](auto& e, auto* a, auto* b) { return with_overflow(e, Intrinsic::sadd_with_overflow, a, b); });
  t.with_constant("s_mulk_i32", [](auto& e, auto* a, auto* b) { return Result{e.ir.CreateMul(a, b)}; });
  t.with_constant("s_movk_i32", [](auto&, auto*, auto* b) { return Result{b}; });
}

void add_shifts_and_fields(ScalarTable& t) {
  t.binary("s_lshl_b32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateShl(a, amount(e, a, b))); });
  t.binary("s_lshl_b64", 64, 32,
           [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateShl(a, amount(e, a, b))); });
  t.binary("s_lshr_b32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateLShr(a, amount(e, a, b))); });
  t.binary("s_lshr_b64", 64, 32,
           [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateLShr(a, amount(e, a, b))); });
  t.binary("s_ashr_i32", 32, 32,
           [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAShr(a, amount(e, a, b))); });
  t.binary("s_ashr_i64", 64, 32,
           [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAShr(a, amount(e, a, b))); });
  t.binary("s_bfm_b32", 32, 32, [](auto& e, auto* a, auto* b) { return Result{bit_field_mask(e, e.i32(), a, b)}; });
  t.binary("s_bfm_b64", 32, 32, [](auto& e, auto* a, auto* b) { return Result{bit_field_mask(e, e.i64(), a, b)}; });
  t.binary("s_bfe_u32", 32, 32, [](auto& e, auto* a, auto* b) { return bit_field_extract(e, a, b, false); });
  t.binary("s_bfe_i32", 32, 32, [](auto& e, auto* a, auto* b) { return bit_field_extract(e, a, b, true); });
  t.binary("s_bfe_u64", 64, 32, [](auto& e, auto* a, auto* b) { return bit_field_extract(e, a, b, false); });
  t.binary("s_bfe_i64", 64, 32, [](auto& e, auto* a, auto* b) { return bit_field_extract(e, a, b, true); });
  t.binary("s_pack_ll_b32_b16", 32, 32, [](auto& e, auto* a, auto* b) { return pack_halves(e, a, b); });
  t.binary("s_pack_lh_b32_b16", 32, 32, [](auto& e, auto* a, auto* b) { return pack_halves(e, a, upper(e, b)); });
  t.binary("s_pack_hh_b32_b16", 32, 32,
           [](auto& e, auto* a, auto* b) { return pack_halves(e, upper(e, a), upper(e, b)); });
  t.unary("s_sext_i32_i8", 32,
          [](auto& e, auto* a) { return Result{e.ir.CreateSExt(e.ir.CreateTrunc(a, e.ir.getInt8Ty()), e.i32())}; });
  t.unary("s_sext_i32_i16", 32,
          [](auto& e, auto* a) { return Result{e.ir.CreateSExt(e.ir.CreateTrunc(a, e.ir.getInt16Ty()), e.i32())}; });
}

void add_logic(ScalarTable& t) {
  t.logic("s_and", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAnd(a, b)); });
  t.logic("s_or", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateOr(a, b)); });
  t.logic("s_xor", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateXor(a, b)); });
  t.logic("s_andn2", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAnd(a, e.ir.CreateNot(b))); });
  t.logic("s_orn2", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateOr(a, e.ir.CreateNot(b))); });
  t.logic("s_nand", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateNot(e.ir.CreateAnd(a, b))); });
  t.logic("s_nor", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateNot(e.ir.CreateOr(a, b))); });
  t.logic("s_xnor", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateNot(e.ir.CreateXor(a, b))); });
  t.save_exec("s_andn1",
              [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAnd(e.ir.CreateNot(a), b)); });
  t.save_exec("s_orn1", [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateOr(e.ir.CreateNot(a), b)); });
  t.write_exec("s_andn1",
               [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAnd(e.ir.CreateNot(a), b)); });
  t.write_exec("s_andn2",
               [](auto& e, auto* a, auto* b) { return with_nonzero(e, e.ir.CreateAnd(a, e.ir.CreateNot(b))); });
}

/// Operations on one source, each in 32 and 64 bits.
void add_unary(ScalarTable& t) {
  for (const unsigned bits : {32U, 64U}) {
    const std::string b = "_b" + std::to_string(bits);
    const auto unary = [&](const std::string& mnemonic, Unary operation) {
      t.unary(mnemonic.c_str(), bits, operation);
    };
    unary("s_mov" + b, [](auto&, auto* a) { return Result{a}; });
    unary("s_not" + b, [](auto& e, auto* a) { return with_nonzero(e, e.ir.CreateNot(a)); });
    unary("s_wqm" + b,
          [](auto& e, auto* a) { return with_nonzero(e, e.ir.CreateMul(any_of_quad(e, a), constant(a, 15))); });
    unary("s_quadmask" + b, quad_mask);
    unary("s_brev" + b, [](auto& e, auto* a) { return Result{e.ir.CreateUnaryIntrinsic(Intrinsic::bitreverse, a)}; });
    unary("s_bcnt0_i32" + b, [](auto& e, auto* a) { return count_bits(e, e.ir.CreateNot(a)); });
    unary("s_bcnt1_i32" + b, count_bits);
    unary("s_ff0_i32" + b, [](auto& e, auto* a) { return find_bit(e, Intrinsic::cttz, e.ir.CreateNot(a)); });
    unary("s_ff1_i32" + b, [](auto& e, auto* a) { return find_bit(e, Intrinsic::cttz, a); });
    unary("s_flbit_i32" + b, [](auto& e, auto* a) { return find_bit(e, Intrinsic::ctlz, a); });
    unary(bits == 32 ? "s_flbit_i32" : "s_flbit_i32_i64", find_sign_change);
    t.bit_compare(("s_bitcmp0" + b).c_str(), bits, false);
    t.bit_compare(("s_bitcmp1" + b).c_str(), bits, true);
    t.bit_set(("s_bitset0" + b).c_str(), bits, false);
    t.bit_set(("s_bitset1" + b).c_str(), bits, true);
    t.conditional_move(("s_cmov" + b).c_str(), bits);
    t.binary(("s_cselect" + b).c_str(), bits, bits,
             [](auto& e, auto* x, auto* y) { return Result{e.ir.CreateSelect(e.scc(), x, y)}; });
  }
  t.conditional_move("s_cmovk_i32", 32);
  t.unary("s_bitreplicate_b64_b32", 32, replicate_bits);
}

void add_compares(ScalarTable& t) {
  using P = llvm::CmpInst;
  t.compare("eq_i32", P::ICMP_EQ, 32), t.compare("eq_u32", P::ICMP_EQ, 32), t.compare("eq_u64", P::ICMP_EQ, 64);
  t.compare("lg_i32", P::ICMP_NE, 32), t.compare("lg_u32", P::ICMP_NE, 32), t.compare("lg_u64", P::ICMP_NE, 64);
  t.compare("gt_i32", P::ICMP_SGT, 32), t.compare("gt_u32", P::ICMP_UGT, 32);
  t.compare("ge_i32", P::ICMP_SGE, 32), t.compare("ge_u32", P::ICMP_UGE, 32);
  t.compare("lt_i32", P::ICMP_SLT, 32), t.compare("lt_u32", P::ICMP_ULT, 32);
  t.compare("le_i32", P::ICMP_SLE, 32), t.compare("le_u32", P::ICMP_ULE, 32);
}

}  // namespace

void add_scalar_alu(HandlerTable& table) {
  ScalarTable t(table);
  add_arithmetic(t);
  add_shifts_and_fields(t);
  add_logic(t);
  add_unary(t);
  add_compares(t);
}

}  // namespace softgpu::compute
