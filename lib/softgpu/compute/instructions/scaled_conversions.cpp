// CDNA4's conversions between floating-point numbers of 8 or 4 bits and wider ones, with a scale: v_cvt_scalef32_*, but
// those that round by random bits, and those of 6 bits.
//
// The scale is a power of two, the exponent of a float. What becomes narrow is divided by it, what becomes wide
// multiplied.
#include <string>

#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/byte_float_functions.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/lane_functions.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;

enum class Wide : std::uint8_t { f32, f16, bf16 };

/// The manual tells of no other modes.
void require_usual_mode(Emitter& e, const ByteFloat& narrow) {
  constexpr std::uint32_t rounding = 0xf;
  constexpr std::uint32_t denormals = 0xf0;
  if ((e.known_mode.current() & rounding) != 0) e.unsupported("a rounding mode other than to nearest even");
  if ((e.known_mode.current() & denormals) != denormals) e.unsupported("denormals that count as zeros");
  const bool overflows = narrow.specials != ByteFloat::Specials::none;
  if (overflows && (e.known_mode.current() & mode_register::fp16_overflow) != 0) e.unsupported("MODE.FP16_OVFL");
}

/// 2 to the power of an exponent with a bias of 127 (<16 x i32>), of which 255 is NaN.
Value* scale_factor(Emitter& e, Value* exponent) {
  Value* bits = e.ir.CreateShl(exponent, 23);
  bits = e.ir.CreateSelect(e.ir.CreateICmpEQ(exponent, e.splat(0U)), e.splat(0x400000U), bits);
  return from_bits(e, e.ir.CreateSelect(e.ir.CreateICmpEQ(exponent, e.splat(255U)), e.splat(0x7fc00000U), bits));
}
Value* exponent_of(Emitter& e, Value* scale) { return e.ir.CreateAnd(e.ir.CreateLShr(scale, 23), e.splat(0xffU)); }
Value* times(Emitter& e, Value* number, Value* factor) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(e.ir);
  e.ir.setIsFPConstrained(false);
  return e.ir.CreateFMul(number, factor);
}

/// Half a dword as a float.
Value* half_of(Emitter& e, Value* dword, bool upper, Wide type) {
  if (type == Wide::bf16)
    return from_bits(e, upper ? e.ir.CreateAnd(dword, e.splat(0xffff0000U)) : e.ir.CreateShl(dword, 16));
  Value* bits = upper ? e.ir.CreateLShr(dword, 16) : dword;
  return half_to_float(e, e.ir.CreateTrunc(bits, Emitter::lanes(e.ir.getInt16Ty())));
}

/// Two numbers become narrow, beside each other in a byte or a half of the destination, which keeps its other bits.
template <const ByteFloat& narrow>
void to_narrow(Emitter& e, const Instruction& i, Wide type) {
  require_usual_mode(e, narrow);
  VectorInstruction vector(e, i);
  const unsigned bits = narrow.sign_bit() + 1;
  const unsigned sources = type == Wide::f32 ? 3 : 2;
  if (i.operands.size() != 1 + sources) e.unsupported("operands");
  // OP_SEL[3] chooses a half, OP_SEL[3:2] a byte; with two sources, a half's bit is printed as the third one.
  const auto part = static_cast<unsigned>(bits == 8 ? i.element("op_sel", sources, 0)
                                                    : i.element("op_sel", 2, 0) + 2 * i.element("op_sel", 3, 0));
  const unsigned shift = part * 2 * bits;
  const std::uint32_t field = ((1U << 2 * bits) - 1) << shift;
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* exponent = exponent_of(e, vector.source(sources - 1, b32, chunk));
    Value* is_nan = e.ir.CreateICmpEQ(exponent, e.splat(255U));
    Value* inverse = e.ir.CreateSelect(is_nan, exponent, e.ir.CreateSub(e.splat(254U), exponent));
    Value* factor = scale_factor(e, inverse);
    const auto code = [&](unsigned n) {
      Value* number =
          type == Wide::f32 ? vector.source(n, f32, chunk) : half_of(e, vector.source(0, u32, chunk), n == 1, type);
      return narrowed<narrow>(e, times(e, number, factor));
    };
    Value* low = code(0);
    Value* both = e.ir.CreateShl(e.ir.CreateOr(low, e.ir.CreateShl(code(1), bits)), shift);
    Value* kept = e.ir.CreateAnd(e.vector(i.operands[0], chunk), e.splat(~field));
    e.set_vector(i.operands[0], chunk, e.ir.CreateOr(kept, both));
  }
}

/// Two narrow numbers of a byte or a half of S0 become wide.
template <const ByteFloat& narrow>
void to_wide(Emitter& e, const Instruction& i, Wide type) {
  require_usual_mode(e, narrow);
  VectorInstruction vector(e, i);
  const unsigned bits = narrow.sign_bit() + 1;
  if (i.operands.size() != 3) e.unsupported("operands");
  const auto part = static_cast<unsigned>(bits == 8 ? i.element("op_sel", 0, 0)
                                                    : i.element("op_sel", 0, 0) + 2 * i.element("op_sel", 1, 0));
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* factor = scale_factor(e, exponent_of(e, vector.source(1, b32, chunk)));
    Value* held = e.ir.CreateLShr(vector.source(0, u32, chunk), part * 2 * bits);
    Value* low = times(e, widened<narrow>(e, held), factor);
    Value* high = times(e, widened<narrow>(e, e.ir.CreateLShr(held, bits)), factor);
    if (type == Wide::f32) {
      e.set_vector(i.operands[0], chunk, bits_of(e, low), 0);
      e.set_vector(i.operands[0], chunk, bits_of(e, high), 1);
    } else if (type == Wide::bf16) {
      Value* both = e.ir.CreateOr(bfloat_bits(e, low), e.ir.CreateShl(bfloat_bits(e, high), 16));
      e.set_vector(i.operands[0], chunk, both);
    } else {
      const auto half = [&](Value* number) {
        return e.ir.CreateBitCast(round_to_half(e, number, 0), Emitter::lanes(e.ir.getInt16Ty()));
      };
      e.set_vector(i.operands[0], chunk, pack(e, half(low), half(high)));
    }
  }
}

template <const ByteFloat& narrow>
void add_type(HandlerTable& table, const std::string& name) {
  for (const auto& [wide_name, type] : {std::pair{"f32", Wide::f32}, {"f16", Wide::f16}, {"bf16", Wide::bf16}}) {
    table.add("v_cvt_scalef32_pk_" + name + "_" + wide_name,
              [type = type](Emitter& e, const Instruction& i) { to_narrow<narrow>(e, i, type); });
    table.add("v_cvt_scalef32_pk_" + std::string(wide_name) + "_" + name,
              [type = type](Emitter& e, const Instruction& i) { to_wide<narrow>(e, i, type); });
  }
}

}  // namespace

void add_scaled_conversions(HandlerTable& table) {
  add_type<ocp_fp8_format>(table, "fp8");
  add_type<ocp_bf8_format>(table, "bf8");
  add_type<ocp_fp4_format>(table, "fp4");
}

}  // namespace softgpu::compute
