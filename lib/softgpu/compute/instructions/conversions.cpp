// VALU conversions between integers, halves, floats and doubles, and conversions that pack two results.
#include "softgpu/compute/instructions/float_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using enum Lane;

llvm::Type* integers(Emitter& e, unsigned bits) { return Emitter::lanes(e.ir.getIntNTy(bits)); }
llvm::Type* floats(Emitter& e) { return Emitter::lanes(e.ir.getFloatTy()); }

constexpr auto to_i32 = to_integer<Intrinsic::fptosi_sat, 32>;
constexpr auto to_u32 = to_integer<Intrinsic::fptoui_sat, 32>;
constexpr auto to_i16 = to_integer<Intrinsic::fptosi_sat, 16>;
constexpr auto to_u16 = to_integer<Intrinsic::fptoui_sat, 16>;

template <Intrinsic::ID rounding>
Value* rounded_to_i32(Emitter& e, Sources s) {
  Value* whole = e.ir.CreateUnaryIntrinsic(rounding, s[0]);
  return to_i32(e, {&whole, 1});
}
Value* nearest_up_to_i32(Emitter& e, Sources s) {
  Value* whole = e.ir.CreateUnaryIntrinsic(Intrinsic::floor, e.ir.CreateFAdd(s[0], number_like(s[0], 0.5)));
  return to_i32(e, {&whole, 1});
}

Value* signed_to_float(Emitter& e, Sources s) { return e.ir.CreateSIToFP(s[0], floats(e)); }
Value* unsigned_to_float(Emitter& e, Sources s) { return e.ir.CreateUIToFP(s[0], floats(e)); }
Value* signed_to_double(Emitter& e, Sources s) { return e.ir.CreateSIToFP(s[0], doubles(e)); }
Value* unsigned_to_double(Emitter& e, Sources s) { return e.ir.CreateUIToFP(s[0], doubles(e)); }
Value* same(Emitter&, Sources s) { return s[0]; }

/// From 16 bits, which a float holds exactly: only the conversion to half rounds.
template <LaneFunction convert>
Value* exactly(Emitter& e, Sources s) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  return convert(e, s);
}

template <unsigned byte>
Value* byte_to_float(Emitter& e, Sources s) {
  return e.ir.CreateUIToFP(e.ir.CreateAnd(e.ir.CreateLShr(s[0], 8 * byte), e.splat(0xffU)), floats(e));
}

/// A signed 4-bit offset from -0.5 to 0.4375.
Value* nibble_to_float(Emitter& e, Sources s) {
  Value* offset = e.ir.CreateAShr(e.ir.CreateShl(s[0], 28), 28);
  Value* number = e.ir.CreateSIToFP(offset, floats(e));
  return e.ir.CreateFMul(number, number_like(number, 0.0625));
}

/// The whole number nearest to a product, which is exact in a double.
Value* nearest_multiple(Emitter& e, Value* value, double factor) {
  Value* exact = e.ir.CreateFPExt(value, doubles(e));
  return e.ir.CreateUnaryIntrinsic(Intrinsic::rint, e.ir.CreateFMul(exact, number_like(exact, factor)));
}

/// From [-1, 1] or [0, 1] to the whole range of 16 bits, to nearest even.
Value* to_signed_norm(Emitter& e, Value* value) {
  Value* scaled = nearest_multiple(e, value, 32767);
  Value* whole = to_i32(e, {&scaled, 1});
  whole = e.ir.CreateBinaryIntrinsic(Intrinsic::smax, whole, e.splat(static_cast<std::uint32_t>(-32767)));
  whole = e.ir.CreateBinaryIntrinsic(Intrinsic::smin, whole, e.splat(32767U));
  return e.ir.CreateTrunc(whole, integers(e, 16));
}
Value* to_unsigned_norm(Emitter& e, Value* value) {
  Value* scaled = nearest_multiple(e, value, 65535);
  return to_u16(e, {&scaled, 1});
}
template <auto convert>
Value* pack_norm(Emitter& e, Sources s) {
  return pack(e, convert(e, s[0]), convert(e, s[1]));
}

/// To half towards zero: too large numbers become the largest half, infinities stay.
Value* to_half_towards_zero(Emitter& e, Value* value) {
  llvm::Type* halves = Emitter::lanes(e.ir.getHalfTy());
  Value* half = e.ir.CreateFPTrunc(value, halves);
  Value* back = e.ir.CreateFPExt(half, floats(e));
  const auto magnitude = [&](Value* v) { return e.ir.CreateUnaryIntrinsic(Intrinsic::fabs, v); };
  // Where rounding to nearest went away from zero, the half before it.
  Value* bits = e.ir.CreateBitCast(half, integers(e, 16));
  Value* before = e.ir.CreateSub(bits, constant_like(bits, 1));
  return e.ir.CreateSelect(e.ir.CreateFCmpOGT(magnitude(back), magnitude(value)), before, bits);
}

template <Intrinsic::ID limit>
Value* pack_saturated(Emitter& e, Sources s) {
  const auto narrow = [&](Value* v) {
    if (limit == Intrinsic::umin) {
      v = e.ir.CreateBinaryIntrinsic(Intrinsic::umin, v, e.splat(0xffffU));
    } else {
      v = e.ir.CreateBinaryIntrinsic(Intrinsic::smin, v, e.splat(0x7fffU));
      v = e.ir.CreateBinaryIntrinsic(Intrinsic::smax, v, e.splat(0xffff8000U));
    }
    return e.ir.CreateTrunc(v, integers(e, 16));
  };
  return pack(e, narrow(s[0]), narrow(s[1]));
}

/// v_cvt_pk_u8_f32: S0 as a byte in the place of byte S1 of S2.
Value* pack_byte(Emitter& e, Sources s) {
  Value* whole = e.ir.CreateUnaryIntrinsic(Intrinsic::rint, s[0]);
  Value* byte = e.ir.CreateBinaryIntrinsic(Intrinsic::umin, to_u32(e, {&whole, 1}), e.splat(255U));
  Value* shift = e.ir.CreateShl(e.ir.CreateAnd(s[1], e.splat(3U)), 3);
  Value* kept = e.ir.CreateAnd(s[2], e.ir.CreateNot(e.ir.CreateShl(e.splat(0xffU), shift)));
  return e.ir.CreateOr(kept, e.ir.CreateShl(byte, shift));
}

}  // namespace

void add_conversions(HandlerTable& table) {
  const auto op = [&](const char* mnemonic, Lane result, std::vector<Lane> sources, LaneFunction function) {
    add_vector_operation(table, mnemonic, {result, std::move(sources)}, function);
  };
  op("v_cvt_f32_i32", f32, {u32}, signed_to_float);
  op("v_cvt_f32_u32", f32, {u32}, unsigned_to_float);
  op("v_cvt_i32_f32", u32, {f32}, to_i32);
  op("v_cvt_u32_f32", u32, {f32}, to_u32);
  op("v_cvt_rpi_i32_f32", u32, {f32}, nearest_up_to_i32);
  op("v_cvt_flr_i32_f32", u32, {f32}, rounded_to_i32<Intrinsic::floor>);
  op("v_cvt_off_f32_i4", f32, {u32}, nibble_to_float);
  op("v_cvt_f32_ubyte0", f32, {u32}, byte_to_float<0>);
  op("v_cvt_f32_ubyte1", f32, {u32}, byte_to_float<1>);
  op("v_cvt_f32_ubyte2", f32, {u32}, byte_to_float<2>);
  op("v_cvt_f32_ubyte3", f32, {u32}, byte_to_float<3>);
  op("v_cvt_f16_f32", f16, {f32}, same);
  op("v_cvt_f32_f16", f32, {f16}, [](auto& e, auto s) { return quieted(e, s[0]); });
  op("v_cvt_f16_u16", f16, {u16}, exactly<unsigned_to_float>);
  op("v_cvt_f16_i16", f16, {u16}, exactly<signed_to_float>);
  op("v_cvt_u16_f16", u16, {f16}, to_u16);
  op("v_cvt_i16_f16", u16, {f16}, to_i16);
  op("v_cvt_norm_i16_f16", u16, {f16}, [](auto& e, auto s) { return to_signed_norm(e, s[0]); });
  op("v_cvt_norm_u16_f16", u16, {f16}, [](auto& e, auto s) { return to_unsigned_norm(e, s[0]); });
  op("v_cvt_f32_f64", f32, {f64}, [](auto& e, auto s) { return e.ir.CreateFPTrunc(s[0], floats(e)); });
  op("v_cvt_f64_f32", f64, {f32}, [](auto& e, auto s) { return e.ir.CreateFPExt(s[0], doubles(e)); });
  op("v_cvt_f64_i32", f64, {u32}, signed_to_double);
  op("v_cvt_f64_u32", f64, {u32}, unsigned_to_double);
  op("v_cvt_i32_f64", u32, {f64}, to_i32);
  op("v_cvt_u32_f64", u32, {f64}, to_u32);
  op("v_cvt_pkrtz_f16_f32", u32, {f32, f32}, pack_norm<to_half_towards_zero>);
  op("v_cvt_pknorm_i16_f32", u32, {f32, f32}, pack_norm<to_signed_norm>);
  op("v_cvt_pknorm_u16_f32", u32, {f32, f32}, pack_norm<to_unsigned_norm>);
  op("v_cvt_pknorm_i16_f16", u32, {f16, f16}, pack_norm<to_signed_norm>);
  op("v_cvt_pknorm_u16_f16", u32, {f16, f16}, pack_norm<to_unsigned_norm>);
  op("v_cvt_pk_u16_u32", u32, {u32, u32}, pack_saturated<Intrinsic::umin>);
  op("v_cvt_pk_i16_i32", u32, {u32, u32}, pack_saturated<Intrinsic::smin>);
  op("v_cvt_pk_u8_f32", u32, {f32, u32, u32}, pack_byte);
  add_vector_operation(table, "v_cvt_pkaccum_u8_f32", {u32, {f32, u32, u32}}, pack_byte, {.accumulates = true});
  op("v_pack_b32_f16", u32, {b16, b16}, [](auto& e, auto s) { return pack(e, s[0], s[1]); });
}

}  // namespace softgpu::compute
