// CDNA4's conversions between floating-point numbers of 8, 6 or 4 bits and wider ones, with a scale: v_cvt_scalef32_*,
// but those that round by random bits.
//
// The scale is a power of two, the exponent of a float. What becomes narrow is divided by it, what becomes wide
// multiplied.
#include <array>
#include <string>
#include <utility>
#include <vector>

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
/// What widened numbers are multiplied with, and what numbers are before they are narrowed.
Value* factor_of(Emitter& e, Value* scale) { return scale_factor(e, exponent_of(e, scale)); }
Value* inverse_of(Emitter& e, Value* scale) {
  Value* exponent = exponent_of(e, scale);
  Value* is_nan = e.ir.CreateICmpEQ(exponent, e.splat(255U));
  return scale_factor(e, e.ir.CreateSelect(is_nan, exponent, e.ir.CreateSub(e.splat(254U), exponent)));
}
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

/// A float as half a dword.
Value* to_half(Emitter& e, Value* number, Wide type) {
  if (type == Wide::bf16) return bfloat_bits(e, number);
  Value* half = e.ir.CreateBitCast(round_to_half(e, number, 0), Emitter::lanes(e.ir.getInt16Ty()));
  return e.ir.CreateZExt(half, Emitter::lanes(e.i32()));
}
Value* to_halves(Emitter& e, Value* low, Value* high, Wide type) {
  return e.ir.CreateOr(to_half(e, low, type), e.ir.CreateShl(to_half(e, high, type), 16));
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
    Value* factor = inverse_of(e, vector.source(sources - 1, b32, chunk));
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
    Value* factor = factor_of(e, vector.source(1, b32, chunk));
    Value* held = e.ir.CreateLShr(vector.source(0, u32, chunk), part * 2 * bits);
    Value* low = times(e, widened<narrow>(e, held), factor);
    Value* high = times(e, widened<narrow>(e, e.ir.CreateLShr(held, bits)), factor);
    if (type == Wide::f32) {
      e.set_vector(i.operands[0], chunk, bits_of(e, low), 0);
      e.set_vector(i.operands[0], chunk, bits_of(e, high), 1);
    } else {
      e.set_vector(i.operands[0], chunk, to_halves(e, low, high, type));
    }
  }
}

/// The narrow number in a byte of S0 becomes a float, or a half beside what the destination has in its other half.
template <const ByteFloat& narrow>
void one_to_wide(Emitter& e, const Instruction& i, Wide type) {
  require_usual_mode(e, narrow);
  VectorInstruction vector(e, i);
  const auto byte = static_cast<unsigned>(i.element("op_sel", 0, 0) + 2 * i.element("op_sel", 1, 0));
  const bool upper = type != Wide::f32 && i.element("op_sel", 2, 0) != 0;
  const Operand& destination = i.operands.at(0);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* held = e.ir.CreateLShr(vector.source(0, u32, chunk), byte * 8);
    Value* number = times(e, widened<narrow>(e, held), factor_of(e, vector.source(1, b32, chunk)));
    if (type == Wide::f32) {
      e.set_vector(destination, chunk, bits_of(e, number));
      continue;
    }
    Value* kept = e.ir.CreateAnd(e.vector(destination, chunk), e.splat(upper ? 0xffffU : 0xffff0000U));
    Value* half = e.ir.CreateShl(to_half(e, number, type), upper ? 16 : 0);
    e.set_vector(destination, chunk, e.ir.CreateOr(kept, half));
  }
}

// --- 32 numbers of 6 bits, one behind the other in six registers

constexpr unsigned numbers_of_a_group = 32;

void require_registers(Emitter& e, const Instruction& i, std::size_t operand, unsigned dwords) {
  if (operand >= i.operands.size()) e.unsupported("operands");
  const Operand& registers = i.operands[operand];
  if (!registers.is_vector() || registers.dwords != dwords) e.unsupported("operand " + registers.text);
}

/// Number n, with others above it.
Value* six_bits(Emitter& e, const Operand& registers, unsigned n, unsigned chunk) {
  const unsigned dword = n * 6 / 32;
  const unsigned shift = n * 6 % 32;
  Value* held = e.ir.CreateLShr(e.vector(registers, chunk, dword), shift);
  if (shift <= 26) return held;
  return e.ir.CreateOr(held, e.ir.CreateShl(e.vector(registers, chunk, dword + 1), 32 - shift));
}

template <const ByteFloat& narrow>
void group_to_wide(Emitter& e, const Instruction& i, Wide type) {
  require_usual_mode(e, narrow);
  require_registers(e, i, 0, type == Wide::f32 ? numbers_of_a_group : numbers_of_a_group / 2);
  require_registers(e, i, 1, 6);
  VectorInstruction vector(e, i);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* factor = factor_of(e, vector.source(1, b32, chunk));
    std::vector<Value*> numbers;
    for (unsigned n = 0; n < numbers_of_a_group; ++n)
      numbers.push_back(times(e, widened<narrow>(e, six_bits(e, i.operands[1], n, chunk)), factor));
    for (unsigned n = 0; n < i.operands[0].dwords; ++n) {
      Value* dword =
          type == Wide::f32 ? bits_of(e, numbers[n]) : to_halves(e, numbers[2 * n], numbers[2 * n + 1], type);
      e.set_vector(i.operands[0], chunk, dword, n);
    }
  }
}

/// Floats are in two tuples of registers, halves in one.
template <const ByteFloat& narrow>
void group_to_narrow(Emitter& e, const Instruction& i, Wide type) {
  require_usual_mode(e, narrow);
  const unsigned tuples = type == Wide::f32 ? 2 : 1;
  require_registers(e, i, 0, 6);
  for (unsigned n = 0; n < tuples; ++n) require_registers(e, i, 1 + n, 16);
  VectorInstruction vector(e, i);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* factor = inverse_of(e, vector.source(tuples, b32, chunk));
    std::array<Value*, 6> dwords;
    dwords.fill(e.splat(0U));
    for (unsigned n = 0; n < numbers_of_a_group; ++n) {
      Value* number = type == Wide::f32 ? from_bits(e, e.vector(i.operands[1 + n / 16], chunk, n % 16))
                                        : half_of(e, e.vector(i.operands[1], chunk, n / 2), n % 2 == 1, type);
      Value* code = narrowed<narrow>(e, times(e, number, factor));
      const unsigned dword = n * 6 / 32;
      const unsigned shift = n * 6 % 32;
      dwords.at(dword) = e.ir.CreateOr(dwords.at(dword), e.ir.CreateShl(code, shift));
      if (shift > 26) dwords.at(dword + 1) = e.ir.CreateOr(dwords.at(dword + 1), e.ir.CreateLShr(code, 32 - shift));
    }
    for (unsigned n = 0; n < dwords.size(); ++n) e.set_vector(i.operands[0], chunk, dwords.at(n), n);
  }
}

constexpr std::pair<const char*, Wide> wide_types[] = {{"f32", Wide::f32}, {"f16", Wide::f16}, {"bf16", Wide::bf16}};

template <const ByteFloat& narrow>
void add_type(HandlerTable& table, const std::string& name) {
  for (const auto& [wide_name, type] : wide_types) {
    table.add("v_cvt_scalef32_pk_" + name + "_" + wide_name,
              [type = type](Emitter& e, const Instruction& i) { to_narrow<narrow>(e, i, type); });
    table.add("v_cvt_scalef32_pk_" + std::string(wide_name) + "_" + name,
              [type = type](Emitter& e, const Instruction& i) { to_wide<narrow>(e, i, type); });
  }
}

template <const ByteFloat& narrow>
void add_bytes(HandlerTable& table, const std::string& name) {
  add_type<narrow>(table, name);
  table.add("v_cvt_scalef32_f32_" + name, [](auto& e, auto& i) { one_to_wide<narrow>(e, i, Wide::f32); });
  table.add("v_cvt_scalef32_f16_" + name, [](auto& e, auto& i) { one_to_wide<narrow>(e, i, Wide::f16); });
}

template <const ByteFloat& narrow>
void add_groups(HandlerTable& table, const std::string& name) {
  for (const auto& [wide_name, type] : wide_types) {
    table.add("v_cvt_scalef32_pk32_" + std::string(wide_name) + "_" + name,
              [type = type](Emitter& e, const Instruction& i) { group_to_wide<narrow>(e, i, type); });
    table.add((type == Wide::f32 ? "v_cvt_scalef32_2xpk16_" : "v_cvt_scalef32_pk32_") + name + "_" + wide_name,
              [type = type](Emitter& e, const Instruction& i) { group_to_narrow<narrow>(e, i, type); });
  }
}

}  // namespace

void add_scaled_conversions(HandlerTable& table) {
  add_bytes<ocp_fp8_format>(table, "fp8");
  add_bytes<ocp_bf8_format>(table, "bf8");
  add_groups<ocp_fp6_format>(table, "fp6");
  add_groups<ocp_bf6_format>(table, "bf6");
  add_type<ocp_fp4_format>(table, "fp4");
}

}  // namespace softgpu::compute
