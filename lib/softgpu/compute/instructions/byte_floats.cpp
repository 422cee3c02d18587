// Conversions of CDNA3 and CDNA4 from and to floating-point numbers of 8 bits (run_time/byte_float.hpp). Those that
// round by random bits (v_cvt_sr_*) are refused: no source tells how the bits count where the result is denormal.
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/byte_float_functions.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/vector_instruction.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;

template <const ByteFloat& type>
Value* widen_one(Emitter& e, Sources s) {
  return widened<type>(e, s[0]);
}
template <const ByteFloat& type>
Value* widen_two(Emitter& e, Sources s) {
  return e.combine(bits_of(e, widened<type>(e, s[0])), bits_of(e, widened<type>(e, e.ir.CreateLShr(s[0], 8))));
}

template <const ByteFloat& type>
Value* narrow_two(Emitter& e, Sources s) {
  if ((e.known_mode.current() & 3) != 0) e.unsupported("a rounding mode other than to nearest even");
  if ((e.known_mode.current() & mode_register::fp16_overflow) != 0) e.unsupported("MODE.FP16_OVFL");
  Value* both = e.ir.CreateOr(narrowed<type>(e, s[0]), e.ir.CreateShl(narrowed<type>(e, s[1]), 8));
  return e.ir.CreateTrunc(both, Emitter::lanes(e.ir.getInt16Ty()));
}

template <const ByteFloat& type>
void add_format(HandlerTable& table, const std::string& name) {
  add_vector_operation(table, "v_cvt_f32_" + name, {f32, {u32}}, widen_one<type>);
  add_vector_operation(table, "v_cvt_pk_f32_" + name, {u64, {u32}}, widen_two<type>);
  add_vector_operation(table, "v_cvt_pk_" + name + "_f32", {u16, {f32, f32}}, narrow_two<type>,
                       {.upper = VectorInstruction::UpperHalf::preserved});
}

}  // namespace

void add_byte_floats(HandlerTable& table) {
  add_format<fp8_format>(table, "fp8");
  add_format<bf8_format>(table, "bf8");
}

void add_ocp_byte_floats(HandlerTable& table) {
  add_format<ocp_fp8_format>(table, "fp8");
  add_format<ocp_bf8_format>(table, "bf8");
}

}  // namespace softgpu::compute
