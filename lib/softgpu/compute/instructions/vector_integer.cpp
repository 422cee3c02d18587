// VALU integer instructions of 32 and 16 bits (CDNA2 ISA, "VOP1/VOP2/VOP3 Instructions").
#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using Op = llvm::Instruction;
using enum Lane;

/// A shift count modulo the width of the shifted value.
Value* count(Emitter& e, Value* value) { return low_bits(e, value, value->getType()->getScalarSizeInBits() - 1); }

Value* zero_extend(Emitter& e, Value* value) { return e.ir.CreateZExt(value, Emitter::lanes(e.i64())); }
Value* sign_extend(Emitter& e, Value* value) { return e.ir.CreateSExt(value, Emitter::lanes(e.i64())); }
Value* unsigned24(Emitter& e, Value* value) { return low_bits(e, value, 0xffffff); }
Value* signed24(Emitter& e, Value* value) { return e.ir.CreateAShr(e.ir.CreateShl(value, 8), 8); }

template <auto extend24>
Value* multiply24(Emitter& e, Sources s) {
  return e.ir.CreateMul(extend24(e, s[0]), extend24(e, s[1]));
}
template <auto extend24>
Value* multiply_add24(Emitter& e, Sources s) {
  return e.ir.CreateAdd(multiply24<extend24>(e, s), s[2]);
}
template <auto extend, auto narrow>
Value* multiply_high(Emitter& e, Sources s) {
  Value* product = e.ir.CreateMul(extend(e, narrow(e, s[0])), extend(e, narrow(e, s[1])));
  return e.high_half(product);
}
Value* whole(Emitter&, Value* value) { return value; }

/// Multiply and add without loss, then saturate to 32 bits.
Value* multiply_add24_unsigned_clamped(Emitter& e, Sources s) {
  Value* product = e.ir.CreateMul(zero_extend(e, unsigned24(e, s[0])), zero_extend(e, unsigned24(e, s[1])));
  Value* sum = e.ir.CreateAdd(product, zero_extend(e, s[2]));
  return e.low_half(e.ir.CreateBinaryIntrinsic(Intrinsic::umin, sum, e.splat64(0xffffffff)));
}
Value* multiply_add24_signed_clamped(Emitter& e, Sources s) {
  Value* product = e.ir.CreateMul(sign_extend(e, signed24(e, s[0])), sign_extend(e, signed24(e, s[1])));
  Value* sum = e.ir.CreateAdd(product, sign_extend(e, s[2]));
  sum = e.ir.CreateBinaryIntrinsic(Intrinsic::smin, sum, e.splat64(0x7fffffff));
  return e.low_half(e.ir.CreateBinaryIntrinsic(Intrinsic::smax, sum, e.splat64(~0x7fffffffULL)));
}

Value* bit_field_extract_unsigned(Emitter& e, Sources s) {
  Value* one = e.splat(1U);
  Value* mask = e.ir.CreateSub(e.ir.CreateShl(one, count(e, s[2])), one);
  return e.ir.CreateAnd(e.ir.CreateLShr(s[0], count(e, s[1])), mask);
}

Value* bit_field_extract_signed(Emitter& e, Sources s) {
  Value* offset = count(e, s[1]);
  Value* width = count(e, s[2]);
  Value* room = e.ir.CreateSub(e.splat(32U), offset);
  Value* used = e.ir.CreateBinaryIntrinsic(Intrinsic::umin, width, room);
  Value* top = e.ir.CreateShl(s[0], count(e, e.ir.CreateSub(room, used)));
  Value* field = e.ir.CreateAShr(top, count(e, e.ir.CreateSub(e.splat(32U), used)));
  return e.ir.CreateSelect(e.ir.CreateIsNull(width), e.splat(0U), field);
}

Value* bit_field_insert(Emitter& e, Sources s) {
  return e.ir.CreateOr(e.ir.CreateAnd(s[0], s[1]), e.ir.CreateAnd(e.ir.CreateNot(s[0]), s[2]));
}

Value* bit_field_mask(Emitter& e, Sources s) {
  Value* one = e.splat(1U);
  return e.ir.CreateShl(e.ir.CreateSub(e.ir.CreateShl(one, count(e, s[0])), one), count(e, s[1]));
}

/// The upper of two concatenated dwords shifted right.
Value* align_bits(Emitter& e, Sources s) {
  return e.ir.CreateIntrinsic(Intrinsic::fshr, {s[0]->getType()}, {s[0], s[1], count(e, s[2])});
}
Value* align_bytes(Emitter& e, Sources s) {
  Value* bits = e.ir.CreateShl(low_bits(e, s[2], 3), 3);
  return e.ir.CreateIntrinsic(Intrinsic::fshr, {s[0]->getType()}, {s[0], s[1], bits});
}

/// v_perm_b32: each byte of S2 selects one of eight bytes, a replicated sign, 0x00 or 0xff.
Value* permute_bytes(Emitter& e, Sources s) {
  Value* bytes = e.combine(s[1], s[0]);
  Value* result = e.splat(0U);
  for (unsigned byte = 0; byte < 4; ++byte) {
    Value* selector = low_bits(e, e.ir.CreateLShr(s[2], 8 * byte), 0xff);
    const auto byte_at = [&](Value* index) {
      return low_bits(e, e.low_half(e.ir.CreateLShr(bytes, zero_extend(e, e.ir.CreateShl(index, 3)))), 0xff);
    };
    Value* index = low_bits(e, selector, 7);
    // 8 to 11: the sign of byte 1, 3, 5 or 7.
    Value* sign_index = low_bits(e, e.ir.CreateAdd(e.ir.CreateShl(index, 1), e.splat(1U)), 7);
    Value* sign = e.ir.CreateMul(e.ir.CreateLShr(byte_at(sign_index), 7), e.splat(0xffU));
    Value* value = byte_at(index);
    value = e.ir.CreateSelect(e.ir.CreateICmpUGE(selector, e.splat(8U)), sign, value);
    value = e.ir.CreateSelect(e.ir.CreateICmpEQ(selector, e.splat(12U)), e.splat(0U), value);
    value = e.ir.CreateSelect(e.ir.CreateICmpUGT(selector, e.splat(12U)), e.splat(0xffU), value);
    result = e.ir.CreateOr(result, e.ir.CreateShl(value, 8 * byte));
  }
  return result;
}

/// The position that a counting intrinsic finds, or -1 where no bit is set.
template <llvm::Intrinsic::ID id>
Value* find_bit(Emitter& e, Sources s) {
  Value* position = e.ir.CreateBinaryIntrinsic(id, s[0], e.ir.getFalse());
  return e.ir.CreateSelect(e.ir.CreateIsNull(s[0]), e.splat(~0U), position);
}
Value* find_sign_change(Emitter& e, Sources s) {
  Value* changed = e.ir.CreateXor(s[0], e.ir.CreateAShr(s[0], 31));
  return find_bit<Intrinsic::ctlz>(e, {&changed, 1});
}
Value* count_bits_and_add(Emitter& e, Sources s) {
  return e.ir.CreateAdd(e.ir.CreateUnaryIntrinsic(Intrinsic::ctpop, s[0]), s[1]);
}

template <Intrinsic::ID id>
Value* chain(Emitter& e, Sources s) {
  return e.ir.CreateBinaryIntrinsic(id, e.ir.CreateBinaryIntrinsic(id, s[0], s[1]), s[2]);
}
template <Intrinsic::ID min, Intrinsic::ID max>
Value* median(Emitter& e, Sources s) {
  Value* low = e.ir.CreateBinaryIntrinsic(min, s[0], s[1]);
  Value* high = e.ir.CreateBinaryIntrinsic(max, s[0], s[1]);
  return e.ir.CreateBinaryIntrinsic(max, low, e.ir.CreateBinaryIntrinsic(min, high, s[2]));
}

Value* absolute_difference(Emitter& e, Value* a, Value* b) {
  return e.ir.CreateSub(e.ir.CreateBinaryIntrinsic(Intrinsic::umax, a, b),
                        e.ir.CreateBinaryIntrinsic(Intrinsic::umin, a, b));
}

/// The sum of absolute differences of the parts of two dwords.
template <unsigned bits, bool skip_zero_reference>
Value* part_differences(Emitter& e, Value* a, Value* b) {
  Value* sum = e.splat(0U);
  for (unsigned shift = 0; shift < 32; shift += bits) {
    const auto part = [&](Value* v) { return low_bits(e, e.ir.CreateLShr(v, shift), (1ULL << bits) - 1); };
    Value* difference = absolute_difference(e, part(a), part(b));
    if (skip_zero_reference) difference = e.ir.CreateSelect(e.ir.CreateIsNull(part(b)), e.splat(0U), difference);
    sum = e.ir.CreateAdd(sum, difference);
  }
  return sum;
}
template <unsigned bits, bool skip_zero_reference = false>
Value* sum_differences(Emitter& e, Sources s) {
  return e.ir.CreateAdd(part_differences<bits, skip_zero_reference>(e, s[0], s[1]), s[2]);
}
template <unsigned bits, bool skip_zero_reference = false>
Value* sum_differences_clamped(Emitter& e, Sources s) {
  return e.ir.CreateBinaryIntrinsic(Intrinsic::uadd_sat, part_differences<bits, skip_zero_reference>(e, s[0], s[1]),
                                    s[2]);
}
Value* sum_differences_high(Emitter& e, Sources s) {
  return e.ir.CreateAdd(e.ir.CreateShl(part_differences<8, false>(e, s[0], s[1]), 16), s[2]);
}
Value* sum_dword_difference(Emitter& e, Sources s) { return e.ir.CreateAdd(absolute_difference(e, s[0], s[1]), s[2]); }

/// v_lerp_u8: the mean of each byte pair, rounded up where S2's byte is odd.
Value* average_bytes(Emitter& e, Sources s) {
  Value* result = e.splat(0U);
  for (unsigned shift = 0; shift < 32; shift += 8) {
    const auto part = [&](Value* v, std::uint64_t mask) { return low_bits(e, e.ir.CreateLShr(v, shift), mask); };
    Value* sum = e.ir.CreateAdd(e.ir.CreateAdd(part(s[0], 0xff), part(s[1], 0xff)), part(s[2], 1));
    result = e.ir.CreateOr(result, e.ir.CreateShl(e.ir.CreateLShr(sum, 1), shift));
  }
  return result;
}

/// v_sat_pk_u8_i16: both halves clamped to 0..255, packed.
Value* saturate_to_bytes(Emitter& e, Sources s) {
  const auto clamp = [&](Value* v) {
    v = e.ir.CreateBinaryIntrinsic(Intrinsic::smax, v, e.splat(0U));
    return e.ir.CreateBinaryIntrinsic(Intrinsic::smin, v, e.splat(255U));
  };
  Value* low = clamp(e.ir.CreateAShr(e.ir.CreateShl(s[0], 16), 16));
  Value* bytes = e.ir.CreateOr(low, e.ir.CreateShl(clamp(e.ir.CreateAShr(s[0], 16)), 8));
  return e.ir.CreateTrunc(bytes, Emitter::lanes(e.ir.getInt16Ty()));
}

template <auto extend>
Value* multiply_add_halves(Emitter& e, Sources s) {
  llvm::Type* dword = Emitter::lanes(e.i32());
  const auto widen = [&](Value* v) { return extend ? e.ir.CreateSExt(v, dword) : e.ir.CreateZExt(v, dword); };
  return e.ir.CreateAdd(e.ir.CreateMul(widen(s[0]), widen(s[1])), s[2]);
}

class IntegerTable {
public:
  explicit IntegerTable(HandlerTable& table) : table_(table) {}
  void operator()(const char* mnemonic, std::vector<Lane> sources, LaneFunction function,
                  OperationOptions options = {}) {
    const Lane result = sources[0] == u16 ? u16 : u32;
    add_vector_operation(table_, mnemonic, {result, std::move(sources)}, function, options);
  }

private:
  HandlerTable& table_;
};

void add_one_and_two_operands(IntegerTable op) {
  op("v_not_b32", {u32}, [](auto& e, auto s) { return e.ir.CreateNot(s[0]); });
  op("v_bfrev_b32", {u32}, unary_intrinsic<Intrinsic::bitreverse>);
  op("v_ffbh_u32", {u32}, find_bit<Intrinsic::ctlz>);
  op("v_ffbl_b32", {u32}, find_bit<Intrinsic::cttz>);
  op("v_ffbh_i32", {u32}, find_sign_change);
  op("v_and_b32", {u32, u32}, binary<Op::And>);
  op("v_or_b32", {u32, u32}, binary<Op::Or>);
  op("v_xor_b32", {u32, u32}, binary<Op::Xor>);
  op("v_xnor_b32", {u32, u32}, [](auto& e, auto s) { return e.ir.CreateNot(e.ir.CreateXor(s[0], s[1])); });
  op("v_lshlrev_b32", {u32, u32}, shift_by_first<Op::Shl>);
  op("v_lshrrev_b32", {u32, u32}, shift_by_first<Op::LShr>);
  op("v_ashrrev_i32", {u32, u32}, shift_by_first<Op::AShr>);
  op("v_add_u32", {u32, u32}, binary<Op::Add>, {.clamped = binary_intrinsic<Intrinsic::uadd_sat>});
  op("v_sub_u32", {u32, u32}, binary<Op::Sub>, {.clamped = binary_intrinsic<Intrinsic::usub_sat>});
  op("v_subrev_u32", {u32, u32}, reversed<Op::Sub>, {.clamped = reversed_intrinsic<Intrinsic::usub_sat>});
  op("v_add_i32", {u32, u32}, binary<Op::Add>, {.clamped = binary_intrinsic<Intrinsic::sadd_sat>});
  op("v_sub_i32", {u32, u32}, binary<Op::Sub>, {.clamped = binary_intrinsic<Intrinsic::ssub_sat>});
  op("v_min_i32", {u32, u32}, binary_intrinsic<Intrinsic::smin>);
  op("v_max_i32", {u32, u32}, binary_intrinsic<Intrinsic::smax>);
  op("v_min_u32", {u32, u32}, binary_intrinsic<Intrinsic::umin>);
  op("v_max_u32", {u32, u32}, binary_intrinsic<Intrinsic::umax>);
  op("v_mul_i32_i24", {u32, u32}, multiply24<signed24>);
  op("v_mul_u32_u24", {u32, u32}, multiply24<unsigned24>);
  op("v_mul_hi_i32_i24", {u32, u32}, multiply_high<sign_extend, signed24>);
  op("v_mul_hi_u32_u24", {u32, u32}, multiply_high<zero_extend, unsigned24>);
  op("v_mul_lo_u32", {u32, u32}, binary<Op::Mul>);
  op("v_mul_hi_u32", {u32, u32}, multiply_high<zero_extend, whole>);
  op("v_mul_hi_i32", {u32, u32}, multiply_high<sign_extend, whole>);
  op("v_bfm_b32", {u32, u32}, bit_field_mask);
  op("v_bcnt_u32_b32", {u32, u32}, count_bits_and_add);
}

void add_three_operands(IntegerTable op) {
  op("v_mad_i32_i24", {u32, u32, u32}, multiply_add24<signed24>, {.clamped = multiply_add24_signed_clamped});
  op("v_mad_u32_u24", {u32, u32, u32}, multiply_add24<unsigned24>, {.clamped = multiply_add24_unsigned_clamped});
  op("v_bfe_u32", {u32, u32, u32}, bit_field_extract_unsigned);
  op("v_bfe_i32", {u32, u32, u32}, bit_field_extract_signed);
  op("v_bfi_b32", {u32, u32, u32}, bit_field_insert);
  op("v_alignbit_b32", {u32, u32, u32}, align_bits);
  op("v_alignbyte_b32", {u32, u32, u32}, align_bytes);
  op("v_perm_b32", {u32, u32, u32}, permute_bytes);
  op("v_lshl_add_u32", {u32, u32, u32},
     [](auto& e, auto s) { return e.ir.CreateAdd(e.ir.CreateShl(s[0], count(e, s[1])), s[2]); });
  op("v_add_lshl_u32", {u32, u32, u32},
     [](auto& e, auto s) { return e.ir.CreateShl(e.ir.CreateAdd(s[0], s[1]), count(e, s[2])); });
  op("v_lshl_or_b32", {u32, u32, u32},
     [](auto& e, auto s) { return e.ir.CreateOr(e.ir.CreateShl(s[0], count(e, s[1])), s[2]); });
  op("v_and_or_b32", {u32, u32, u32}, [](auto& e, auto s) { return e.ir.CreateOr(e.ir.CreateAnd(s[0], s[1]), s[2]); });
  op("v_or3_b32", {u32, u32, u32}, [](auto& e, auto s) { return e.ir.CreateOr(e.ir.CreateOr(s[0], s[1]), s[2]); });
  op("v_xad_u32", {u32, u32, u32}, [](auto& e, auto s) { return e.ir.CreateAdd(e.ir.CreateXor(s[0], s[1]), s[2]); });
  op("v_add3_u32", {u32, u32, u32}, [](auto& e, auto s) { return e.ir.CreateAdd(e.ir.CreateAdd(s[0], s[1]), s[2]); });
  op("v_min3_i32", {u32, u32, u32}, chain<Intrinsic::smin>);
  op("v_max3_i32", {u32, u32, u32}, chain<Intrinsic::smax>);
  op("v_med3_i32", {u32, u32, u32}, median<Intrinsic::smin, Intrinsic::smax>);
  op("v_min3_u32", {u32, u32, u32}, chain<Intrinsic::umin>);
  op("v_max3_u32", {u32, u32, u32}, chain<Intrinsic::umax>);
  op("v_med3_u32", {u32, u32, u32}, median<Intrinsic::umin, Intrinsic::umax>);
  op("v_sad_u8", {u32, u32, u32}, sum_differences<8>, {.clamped = sum_differences_clamped<8>});
  op("v_sad_hi_u8", {u32, u32, u32}, sum_differences_high);
  op("v_sad_u16", {u32, u32, u32}, sum_differences<16>, {.clamped = sum_differences_clamped<16>});
  op("v_sad_u32", {u32, u32, u32}, sum_dword_difference);
  op("v_msad_u8", {u32, u32, u32}, sum_differences<8, true>, {.clamped = sum_differences_clamped<8, true>});
  op("v_lerp_u8", {u32, u32, u32}, average_bytes);
}

/// Which of four engines draw the tiles of a rectangle: S0 has the lowest two bits of where it ends and begins, y
/// before x, in tiles of 32 pixels.
Value* screen_partition(Emitter& e, Sources s) {
  const auto field = [&](unsigned shift) { return e.ir.CreateAnd(e.ir.CreateLShr(s[0], shift), e.splat(3U)); };
  const auto covers = [&](unsigned tile, Value* least, Value* greatest) {
    Value* extent = e.ir.CreateAnd(e.ir.CreateSub(greatest, least), e.splat(3U));
    Value* distance = e.ir.CreateAnd(e.ir.CreateSub(e.splat(tile), least), e.splat(3U));
    return e.ir.CreateICmpULE(distance, extent);
  };
  Value* engines = e.splat(0U);
  for (unsigned x = 0; x < 4; ++x)
    for (unsigned y = 0; y < 4; ++y) {
      const unsigned engine = ((x & 1) ^ y >> 1) << 1 | ((y & 1) ^ x >> 1);
      Value* is_covered = e.ir.CreateAnd(covers(x, field(6), field(2)), covers(y, field(4), field(0)));
      engines = e.ir.CreateOr(engines, e.ir.CreateSelect(is_covered, e.splat(1U << engine), e.splat(0U)));
    }
  return engines;
}

void add_halves(HandlerTable& table, IntegerTable op) {
  constexpr auto preserved = VectorInstruction::UpperHalf::preserved;
  op("v_add_u16", {u16, u16}, binary<Op::Add>, {.clamped = binary_intrinsic<Intrinsic::uadd_sat>});
  op("v_sub_u16", {u16, u16}, binary<Op::Sub>, {.clamped = binary_intrinsic<Intrinsic::usub_sat>});
  op("v_subrev_u16", {u16, u16}, reversed<Op::Sub>, {.clamped = reversed_intrinsic<Intrinsic::usub_sat>});
  op("v_mul_lo_u16", {u16, u16}, binary<Op::Mul>);
  op("v_lshlrev_b16", {u16, u16}, shift_by_first<Op::Shl>);
  op("v_lshrrev_b16", {u16, u16}, shift_by_first<Op::LShr>);
  op("v_ashrrev_i16", {u16, u16}, shift_by_first<Op::AShr>);
  op("v_min_u16", {u16, u16}, binary_intrinsic<Intrinsic::umin>);
  op("v_max_u16", {u16, u16}, binary_intrinsic<Intrinsic::umax>);
  op("v_min_i16", {u16, u16}, binary_intrinsic<Intrinsic::smin>);
  op("v_max_i16", {u16, u16}, binary_intrinsic<Intrinsic::smax>);
  op("v_mad_legacy_u16", {u16, u16, u16}, multiply_add, {.clamped = multiply_add_saturated<false>});
  op("v_mad_legacy_i16", {u16, u16, u16}, multiply_add, {.clamped = multiply_add_saturated<true>});
  // Those with op_sel keep the half that they do not write.
  op("v_add_i16", {u16, u16}, binary<Op::Add>, {.clamped = binary_intrinsic<Intrinsic::sadd_sat>, .upper = preserved});
  op("v_sub_i16", {u16, u16}, binary<Op::Sub>, {.clamped = binary_intrinsic<Intrinsic::ssub_sat>, .upper = preserved});
  op("v_mad_u16", {u16, u16, u16}, multiply_add, {.clamped = multiply_add_saturated<false>, .upper = preserved});
  op("v_mad_i16", {u16, u16, u16}, multiply_add, {.clamped = multiply_add_saturated<true>, .upper = preserved});
  op("v_min3_i16", {u16, u16, u16}, chain<Intrinsic::smin>, {.upper = preserved});
  op("v_max3_i16", {u16, u16, u16}, chain<Intrinsic::smax>, {.upper = preserved});
  op("v_med3_i16", {u16, u16, u16}, median<Intrinsic::smin, Intrinsic::smax>, {.upper = preserved});
  op("v_min3_u16", {u16, u16, u16}, chain<Intrinsic::umin>, {.upper = preserved});
  op("v_max3_u16", {u16, u16, u16}, chain<Intrinsic::umax>, {.upper = preserved});
  op("v_med3_u16", {u16, u16, u16}, median<Intrinsic::umin, Intrinsic::umax>, {.upper = preserved});
  add_vector_operation(table, "v_mad_u32_u16", {u32, {u16, u16, u32}}, multiply_add_halves<false>);
  add_vector_operation(table, "v_mad_i32_i16", {u32, {u16, u16, u32}}, multiply_add_halves<true>);
}

}  // namespace

void add_vector_integer(HandlerTable& table) {
  add_vector_operation(table, "v_sat_pk_u8_i16", {u16, {u32}}, saturate_to_bytes);
  add_vector_operation(table, "v_mov_b32", {b32, {b32}}, [](Emitter&, Sources s) { return s[0]; });
  add_vector_operation(table, "v_screen_partition_4se_b32", {u32, {u32}}, screen_partition);
  add_one_and_two_operands(IntegerTable(table));
  add_three_operands(IntegerTable(table));
  add_halves(table, IntegerTable(table));
}

}  // namespace softgpu::compute
