#include "softgpu/compute/instructions/float_functions.hpp"

#include <limits>
#include <numbers>

#include "softgpu/compute/instruction_set/llvm_versions.hpp"

namespace softgpu::compute {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;

namespace {

struct Format {
  unsigned bits, fraction_bits;
  [[nodiscard]] std::uint64_t exponent_field() const {
    return ((std::uint64_t{1} << (bits - fraction_bits - 1)) - 1) << fraction_bits;
  }
  [[nodiscard]] unsigned bias() const { return (1U << (bits - fraction_bits - 2)) - 1; }
};
Format format_of(Value* value) {
  const bool is_double = value->getType()->getScalarSizeInBits() == 64;
  return is_double ? Format{64, 52} : Format{32, 23};
}

Value* magnitude_bits(Emitter& e, Value* value) {
  Value* bits = bits_of(e, value);
  return e.ir.CreateAnd(bits, constant_like(bits, (std::uint64_t{1} << (format_of(value).bits - 1)) - 1));
}

Value* call_fma(Emitter& e, Value* a, Value* b, Value* c) {
  if (e.ir.getIsFPConstrained()) {
    llvm::Module* module = e.ir.GetInsertBlock()->getModule();
    auto* fma = intrinsic(module, Intrinsic::experimental_constrained_fma, {a->getType()});
    return e.ir.CreateConstrainedFPCall(fma, {a, b, c});
  }
  return e.ir.CreateIntrinsic(Intrinsic::fma, {a->getType()}, {a, b, c});
}

/// The polynomial with the given coefficients, the constant one first.
template <std::size_t n>
Value* polynomial(Emitter& e, Value* x, const std::array<double, n>& coefficients) {
  Value* result = number_like(x, coefficients[n - 1]);
  for (std::size_t k = n - 1; k-- > 0;) result = call_fma(e, result, x, number_like(x, coefficients.at(k)));
  return result;
}

Value* widen(Emitter& e, Value* value) { return e.ir.CreateFPExt(value, doubles(e)); }
Value* narrow(Emitter& e, Value* value) { return e.ir.CreateFPTrunc(value, Emitter::lanes(e.ir.getFloatTy())); }

/// 2^n as doubles, for n (<16 x i64>) within the normal range.
Value* power_of_two(Emitter& e, Value* n) {
  return from_bits(e, e.ir.CreateShl(e.ir.CreateAdd(n, e.splat64(1023)), 52));
}

}  // namespace

Value* bits_of(Emitter& e, Value* value) {
  return e.ir.CreateBitCast(value, Emitter::lanes(e.ir.getIntNTy(format_of(value).bits)));
}

Value* from_bits(Emitter& e, Value* bits) {
  const bool is_double = bits->getType()->getScalarSizeInBits() == 64;
  return e.ir.CreateBitCast(bits, Emitter::lanes(is_double ? e.ir.getDoubleTy() : e.ir.getFloatTy()));
}

Value* biased_exponent(Emitter& e, Value* value) {
  return e.ir.CreateLShr(magnitude_bits(e, value), format_of(value).fraction_bits);
}

Value* is_nan(Emitter& e, Value* value) { return e.ir.CreateFCmpUNO(value, value); }
Value* is_zero(Emitter& e, Value* value) { return e.ir.CreateFCmpOEQ(value, number_like(value, 0)); }
Value* is_infinite(Emitter& e, Value* value) {
  Value* magnitude = magnitude_bits(e, value);
  return e.ir.CreateICmpEQ(magnitude, constant_like(magnitude, format_of(value).exponent_field()));
}
Value* is_denormal(Emitter& e, Value* value) {
  Value* small = e.ir.CreateIsNull(biased_exponent(e, value));
  return e.ir.CreateAnd(small, e.ir.CreateNot(is_zero(e, value)));
}

Value* quieted(Emitter& e, Value* value) {
  Value* bits = bits_of(e, value);
  const std::uint64_t quiet = std::uint64_t{1} << (format_of(value).fraction_bits - 1);
  return e.ir.CreateSelect(is_nan(e, value), from_bits(e, e.ir.CreateOr(bits, constant_like(bits, quiet))), value);
}

namespace {

Value* is_signaling(Emitter& e, Value* value) {
  Value* bits = bits_of(e, value);
  const std::uint64_t quiet = std::uint64_t{1} << (format_of(value).fraction_bits - 1);
  Value* is_loud = e.ir.CreateIsNull(e.ir.CreateAnd(bits, constant_like(bits, quiet)));
  return e.ir.CreateAnd(is_nan(e, value), is_loud);
}

/// What is common to minimum and maximum: NaNs. In IEEE mode a signaling one wins over everything. Where there is no
/// such mode (RDNA4), any number wins, and of two NaNs the first one is made quiet.
Value* unless_nan(Emitter& e, Value* a, Value* b, Value* result) {
  result = e.ir.CreateSelect(is_nan(e, a), b, e.ir.CreateSelect(is_nan(e, b), a, result));
  if (!e.architecture().has_float_modes_in_descriptor)
    return e.ir.CreateSelect(e.ir.CreateAnd(is_nan(e, a), is_nan(e, b)), quieted(e, a), result);
  const bool is_ieee = (e.known_mode.current() & 0x200) != 0;
  if (!is_ieee) return result;
  result = e.ir.CreateSelect(is_signaling(e, b), quieted(e, b), result);
  return e.ir.CreateSelect(is_signaling(e, a), quieted(e, a), result);
}

}  // namespace

Value* minimum(Emitter& e, Value* a, Value* b) {
  // Equal operands differ only as zeros do, in the sign: the negative one is the smaller.
  Value* equal = from_bits(e, e.ir.CreateOr(bits_of(e, a), bits_of(e, b)));
  Value* result = e.ir.CreateSelect(e.ir.CreateFCmpOLT(a, b), a, b);
  return unless_nan(e, a, b, e.ir.CreateSelect(e.ir.CreateFCmpOEQ(a, b), equal, result));
}

Value* maximum(Emitter& e, Value* a, Value* b) {
  Value* equal = from_bits(e, e.ir.CreateAnd(bits_of(e, a), bits_of(e, b)));
  Value* result = e.ir.CreateSelect(e.ir.CreateFCmpOGT(a, b), a, b);
  return unless_nan(e, a, b, e.ir.CreateSelect(e.ir.CreateFCmpOEQ(a, b), equal, result));
}

Value* float_min(Emitter& e, Sources s) { return minimum(e, s[0], s[1]); }
Value* float_max(Emitter& e, Sources s) { return maximum(e, s[0], s[1]); }
Value* float_min3(Emitter& e, Sources s) { return minimum(e, minimum(e, s[0], s[1]), s[2]); }
Value* float_max3(Emitter& e, Sources s) { return maximum(e, maximum(e, s[0], s[1]), s[2]); }

/// The larger of the two that are not the greatest; the smallest of the three where any is NaN.
Value* float_median(Emitter& e, Sources s) {
  Value* any_nan = e.ir.CreateOr(e.ir.CreateOr(is_nan(e, s[0]), is_nan(e, s[1])), is_nan(e, s[2]));
  Value* greatest = float_max3(e, s);
  const auto is_greatest = [&](Value* v) { return e.ir.CreateFCmpOEQ(greatest, v); };
  Value* median = e.ir.CreateSelect(is_greatest(s[1]), maximum(e, s[0], s[2]), maximum(e, s[0], s[1]));
  median = e.ir.CreateSelect(is_greatest(s[0]), maximum(e, s[1], s[2]), median);
  return e.ir.CreateSelect(any_nan, float_min3(e, s), median);
}

Value* fused_multiply_add(Emitter& e, Sources s) { return call_fma(e, s[0], s[1], s[2]); }
Value* multiply_then_add(Emitter& e, Sources s) { return e.ir.CreateFAdd(e.ir.CreateFMul(s[0], s[1]), s[2]); }

Value* error_of_sum(Emitter& e, Value* a, Value* b, Value* sum) {
  Value* from_a = e.ir.CreateFSub(sum, b);
  Value* from_b = e.ir.CreateFSub(sum, from_a);
  return e.ir.CreateFAdd(e.ir.CreateFSub(a, from_a), e.ir.CreateFSub(b, from_b));
}

Value* is_even(Emitter& e, Value* value) {
  Value* bits = bits_of(e, value);
  return e.ir.CreateIsNull(e.ir.CreateAnd(bits, constant_like(bits, 1)));
}

Value* step_towards_exact(Emitter& e, Value* sum, Value* error, Value* condition) {
  Value* bits = bits_of(e, sum);
  Value* is_inexact = e.ir.CreateFCmpONE(error, number_like(error, 0));
  // Away from zero where the error has the sum's sign, else towards it.
  Value* same_sign = e.ir.CreateICmpSGE(e.ir.CreateXor(bits, bits_of(e, error)), constant_like(bits, 0));
  Value* step = e.ir.CreateSelect(same_sign, constant_like(bits, 1), constant_like(bits, ~std::uint64_t{0}));
  Value* stepped = from_bits(e, e.ir.CreateAdd(bits, step));
  return e.ir.CreateSelect(e.ir.CreateAnd(is_inexact, condition), stepped, sum);
}

Value* bfloat_bits(Emitter& e, Value* number) {
  Value* bits = bits_of(e, number);
  Value* last = e.ir.CreateAnd(e.ir.CreateLShr(bits, 16), e.splat(1U));
  Value* rounded = e.ir.CreateLShr(e.ir.CreateAdd(e.ir.CreateAdd(bits, e.splat(0x7fffU)), last), 16);
  Value* quiet = e.ir.CreateOr(e.ir.CreateLShr(bits, 16), e.splat(0x40U));
  return e.ir.CreateSelect(is_nan(e, number), quiet, rounded);
}

Value* reciprocal(Emitter& e, Sources s) { return e.ir.CreateFDiv(number_like(s[0], 1), s[0]); }
Value* square_root(Emitter& e, Sources s) { return e.ir.CreateUnaryIntrinsic(Intrinsic::sqrt, s[0]); }
Value* reciprocal_root(Emitter& e, Sources s) { return e.ir.CreateFDiv(number_like(s[0], 1), square_root(e, s)); }

Value* fraction(Emitter& e, Sources s) {
  const bool is_double = format_of(s[0]).bits == 64;
  Value* below_one = number_like(s[0], is_double ? 0x1.fffffffffffffp-1 : 0x1.fffffep-1);
  Value* result = e.ir.CreateFSub(s[0], e.ir.CreateUnaryIntrinsic(Intrinsic::floor, s[0]));
  return e.ir.CreateSelect(e.ir.CreateFCmpOGT(result, below_one), below_one, result);
}

Value* scale(Emitter& e, Value* x, Value* n) {
  const auto clamp = [&](Value* v, int low, int high) {
    v = e.ir.CreateBinaryIntrinsic(Intrinsic::smax, v, constant_like(v, static_cast<std::uint64_t>(low)));
    return e.ir.CreateBinaryIntrinsic(Intrinsic::smin, v, constant_like(v, static_cast<std::uint64_t>(high)));
  };
  Value* exponent = e.ir.CreateSExt(n, Emitter::lanes(e.i64()));
  if (format_of(x).bits == 32) {  // a double holds every intermediate result exactly
    Value* factor = power_of_two(e, clamp(exponent, -400, 400));
    return narrow(e, e.ir.CreateFMul(widen(e, x), factor));
  }
  // In steps that stay normal, so that only the last one rounds.
  for (int step = 0; step < 2; ++step) {
    Value* part = clamp(exponent, -969, 1023);
    Value* is_final = e.ir.CreateAnd(e.ir.CreateICmpSGE(exponent, e.splat64(static_cast<std::uint64_t>(-1022))),
                                     e.ir.CreateICmpSLE(exponent, e.splat64(1023)));
    part = e.ir.CreateSelect(is_final, e.splat64(0), part);
    x = e.ir.CreateFMul(x, power_of_two(e, part));
    exponent = e.ir.CreateSub(exponent, part);
  }
  return e.ir.CreateFMul(x, power_of_two(e, clamp(exponent, -1022, 1023)));
}

/// Multiplies denormals so that they have an exponent: by 2^64, which `frexp_exponent` takes back.
static Value* normalized(Emitter& e, Value* x) {
  return e.ir.CreateSelect(is_denormal(e, x), e.ir.CreateFMul(x, number_like(x, 0x1p64)), x);
}

static Value* has_no_exponent(Emitter& e, Value* x) {
  Value* magnitude = magnitude_bits(e, x);
  Value* special = e.ir.CreateICmpUGE(magnitude, constant_like(magnitude, format_of(x).exponent_field()));
  return e.ir.CreateOr(special, e.ir.CreateIsNull(magnitude));
}

Value* frexp_mantissa(Emitter& e, Sources s) {
  const Format format = format_of(s[0]);
  Value* bits = bits_of(e, normalized(e, s[0]));
  const std::uint64_t half = std::uint64_t{format.bias() - 1} << format.fraction_bits;
  bits = e.ir.CreateAnd(bits, constant_like(bits, ~format.exponent_field()));
  bits = e.ir.CreateOr(bits, constant_like(bits, half));
  return e.ir.CreateSelect(has_no_exponent(e, s[0]), quieted(e, s[0]), from_bits(e, bits));
}

Value* frexp_exponent(Emitter& e, Sources s) {
  Value* exponent = biased_exponent(e, normalized(e, s[0]));
  const auto minus = [&](unsigned value) { return constant_like(exponent, std::uint64_t{0} - value); };
  const unsigned bias = format_of(s[0]).bias() - 1;
  exponent = e.ir.CreateAdd(exponent, e.ir.CreateSelect(is_denormal(e, s[0]), minus(bias + 64), minus(bias)));
  exponent = e.ir.CreateSelect(has_no_exponent(e, s[0]), constant_like(exponent, 0), exponent);
  return e.ir.CreateZExtOrTrunc(exponent, Emitter::lanes(e.i32()));
}

/// What an operation without a result gives, as in the manuals' examples: the NaN with a sign and no payload.
static Value* no_number(Value* like) { return llvm::ConstantFP::getQNaN(like->getType(), true); }

Value* exponential2(Emitter& e, Sources s) {
  // 2^x = 2^n * e^(f ln 2), n the nearest integer: the double's exponent reaches beyond a float's on both sides.
  Value* x = widen(e, s[0]);
  Value* bounded = e.ir.CreateSelect(e.ir.CreateFCmpOGT(x, number_like(x, 200)), number_like(x, 200), x);
  bounded = e.ir.CreateSelect(e.ir.CreateFCmpOLT(bounded, number_like(x, -200)), number_like(x, -200), bounded);
  bounded = e.ir.CreateSelect(is_nan(e, x), number_like(x, 0), bounded);
  Value* whole = e.ir.CreateUnaryIntrinsic(Intrinsic::rint, bounded);
  Value* rest = e.ir.CreateFMul(e.ir.CreateFSub(bounded, whole), number_like(x, std::numbers::ln2));
  constexpr std::array<double, 11> taylor = {1.,       1.,        1. / 2,     1. / 6,      1. / 24,     1. / 120,
                                             1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800};
  Value* n = e.ir.CreateSExt(e.ir.CreateFPToSI(whole, Emitter::lanes(e.i32())), Emitter::lanes(e.i64()));
  Value* result = narrow(e, e.ir.CreateFMul(polynomial(e, rest, taylor), power_of_two(e, n)));
  return e.ir.CreateSelect(is_nan(e, s[0]), quieted(e, s[0]), result);
}

Value* logarithm2(Emitter& e, Sources s) {
  // x = 2^n * m with m near 1; log m = 2 atanh((m - 1) / (m + 1)). A double makes denormals normal.
  Value* x = widen(e, s[0]);
  Value* bits = bits_of(e, x);
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd;  // so that m lies between sqrt(1/2) and sqrt(2)
  Value* distance = e.ir.CreateSub(bits, e.splat64(root_half));
  Value* n = e.ir.CreateTrunc(e.ir.CreateAShr(distance, 52), Emitter::lanes(e.i32()));
  Value* m = from_bits(e, e.ir.CreateAdd(e.ir.CreateAnd(distance, e.splat64((1ULL << 52) - 1)), e.splat64(root_half)));
  Value* one = number_like(m, 1);
  Value* ratio = e.ir.CreateFDiv(e.ir.CreateFSub(m, one), e.ir.CreateFAdd(m, one));
  constexpr std::array<double, 8> series = {1., 1. / 3, 1. / 5, 1. / 7, 1. / 9, 1. / 11, 1. / 13, 1. / 15};
  Value* log = e.ir.CreateFMul(polynomial(e, e.ir.CreateFMul(ratio, ratio), series), ratio);
  Value* result = call_fma(e, log, number_like(m, 2 * std::numbers::log2e), e.ir.CreateSIToFP(n, doubles(e)));
  result = narrow(e, result);

  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value* positive = e.ir.CreateFCmpOGT(s[0], number_like(s[0], 0));
  Value* special = e.ir.CreateSelect(is_zero(e, s[0]), number_like(s[0], -infinity), no_number(s[0]));
  special = e.ir.CreateSelect(is_nan(e, s[0]), quieted(e, s[0]), special);
  result = e.ir.CreateSelect(e.ir.CreateFCmpOEQ(s[0], number_like(s[0], infinity)), s[0], result);
  return e.ir.CreateSelect(positive, result, special);
}

namespace {

/// sin(2 pi r) for |r| <= 1/2, doubles.
Value* sine_of_fraction(Emitter& e, Value* r) {
  // Beyond a quarter the sine falls as it rose: sin(2 pi r) = sin(2 pi (1/2 - r)).
  Value* half = e.ir.CreateBinaryIntrinsic(Intrinsic::copysign, number_like(r, 0.5), r);
  Value* folded = e.ir.CreateFSub(half, r);
  Value* magnitude = e.ir.CreateUnaryIntrinsic(Intrinsic::fabs, r);
  r = e.ir.CreateSelect(e.ir.CreateFCmpOGT(magnitude, number_like(r, 0.25)), folded, r);
  Value* t = e.ir.CreateFMul(r, number_like(r, 2 * std::numbers::pi));
  constexpr std::array<double, 9> taylor = {1.,
                                            -1. / 6,
                                            1. / 120,
                                            -1. / 5040,
                                            1. / 362880,
                                            -1. / 39916800,
                                            1. / 6227020800,
                                            -1. / 1307674368000,
                                            1. / 355687428096000};
  return e.ir.CreateFMul(polynomial(e, e.ir.CreateFMul(t, t), taylor), t);
}

Value* fraction_to_nearest(Emitter& e, Value* x) {
  return e.ir.CreateFSub(x, e.ir.CreateUnaryIntrinsic(Intrinsic::rint, x));
}

/// Infinities have no sine.
Value* unless_infinite(Emitter& e, Value* x, Value* result) {
  return e.ir.CreateSelect(is_infinite(e, x), no_number(x), result);
}

Value* within_domain(Emitter& e, Value* x, Value* result, double beyond) {
  if (!e.architecture().bounds_sine_domain) return result;
  Value* magnitude = e.ir.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  Value* is_beyond = e.ir.CreateFCmpOGT(magnitude, number_like(x, 256));
  return unless_infinite(e, x, e.ir.CreateSelect(is_beyond, number_like(x, beyond), result));
}

}  // namespace

Value* sine(Emitter& e, Sources s) {
  return unless_infinite(e, s[0], narrow(e, sine_of_fraction(e, fraction_to_nearest(e, widen(e, s[0])))));
}

Value* cosine(Emitter& e, Sources s) {
  // cos(2 pi x) = sin(2 pi (1/4 - |r|)), whose argument lies between -1/4 and 1/4.
  Value* r = e.ir.CreateUnaryIntrinsic(Intrinsic::fabs, fraction_to_nearest(e, widen(e, s[0])));
  return unless_infinite(e, s[0], narrow(e, sine_of_fraction(e, e.ir.CreateFSub(number_like(r, 0.25), r))));
}

Value* bounded_sine(Emitter& e, Sources s) { return within_domain(e, s[0], sine(e, s), 0); }
Value* bounded_cosine(Emitter& e, Sources s) { return within_domain(e, s[0], cosine(e, s), 1); }

}  // namespace softgpu::compute
