// Conversions of CDNA3, CDNA4 and RDNA4 from and to floating-point numbers of 8 bits (run_time/byte_float.hpp). Those
// that round by random bits (v_cvt_sr_*) round as HIP's own code does on GPUs that lack them (from_float_sr in
// amd_hip_ocp_host.hpp of HIP 7.2), which knows the Open Compute Project's formats only; FNUZ likewise.
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

/// RDNA4's assembly numbers the byte, with the bits of op_sel in another order. CDNA's has the lower bit as that of the
/// third source, the upper one as the destination's.
unsigned destination_byte(const Instruction& i) {
  const auto by_halves = static_cast<unsigned>(i.element("op_sel", 2, 0) + 2 * i.element("op_sel", 3, 0));
  return i.has("byte_sel") ? static_cast<unsigned>(i.number("byte_sel")) : by_halves;
}

/// S1 has random bits. One byte of the destination is written, the others stay.
template <const ByteFloat& type>
void narrow_at_random(Emitter& e, const Instruction& i) {
  if ((e.known_mode.current() & mode_register::fp16_overflow) != 0) e.unsupported("MODE.FP16_OVFL");
  VectorInstruction vector(e, i);
  const unsigned byte = destination_byte(i);
  const Operand& destination = i.operands.at(0);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* code = narrowed_by<type>(e, vector.source(0, f32, chunk), vector.source(1, u32, chunk));
    Value* kept = e.ir.CreateAnd(e.vector(destination, chunk), e.splat(~(0xffU << 8 * byte)));
    e.set_vector(destination, chunk, e.ir.CreateOr(kept, e.ir.CreateShl(code, 8 * byte)));
  }
}

template <const ByteFloat& type>
void add_format(HandlerTable& table, const std::string& name) {
  add_vector_operation(table, "v_cvt_f32_" + name, {f32, {u32}}, widen_one<type>);
  add_vector_operation(table, "v_cvt_pk_f32_" + name, {u64, {u32}}, widen_two<type>);
  add_vector_operation(table, "v_cvt_pk_" + name + "_f32", {u16, {f32, f32}}, narrow_two<type>,
                       {.upper = VectorInstruction::UpperHalf::preserved});
  table.add("v_cvt_sr_" + name + "_f32", narrow_at_random<type>);
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
