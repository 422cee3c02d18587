// Instructions of RDNA2 and RDNA3 that gfx90a has under no name.
#include <array>
#include <string>

#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/half_functions.hpp"
#include "softgpu/compute/instructions/row_permutation.hpp"
#include "softgpu/compute/run_time/clocks.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
namespace Intrinsic = llvm::Intrinsic;
using Op = llvm::Instruction;
using enum Lane;

// --- Waiting, hints and hardware registers

/// s_round_mode and s_denorm_mode: four bits of MODE, from `shift` on.
void set_mode(Emitter& e, const Instruction& i, unsigned shift) {
  const auto bits = static_cast<std::uint32_t>(i.operands.at(0).value & 15) << shift;
  e.known_mode.set_current((e.known_mode.current() & ~(15U << shift)) | bits);
}

/// Kernels set both halves of FLAT_SCRATCH; MODE is left to the handler that gfx90a has.
void set_register(Emitter& e, const Instruction& i, const Handler& otherwise) {
  const std::string& name = i.operands.at(0).text;
  const bool is_low = name == "hwreg(HW_REG_FLAT_SCR_LO)";
  if (!is_low && name != "hwreg(HW_REG_FLAT_SCR_HI)") return otherwise(e, i);
  e.set_sgpr(scalar_register::hidden_flat_scratch + (is_low ? 0 : 1), e.scalar(i.operands.at(1)));
}

/// A kernel that is about to end gives its VGPRs back, which has no effect here.
void send_message(Emitter& e, const Instruction& i, const Handler& otherwise) {
  if (!i.operands.at(0).is("sendmsg(MSG_DEALLOC_VGPRS)")) otherwise(e, i);
}

void request_message(Emitter& e, const Instruction& i) {
  if (!i.operands.at(1).is("sendmsg(MSG_RTN_GET_REALTIME)")) e.unsupported();
  e.set_scalar(i.operands.at(0), e.call(reinterpret_cast<const void*>(&runtime::real_time), e.i64(), {}));
}

void pack_high_low(Emitter& e, const Instruction& i) {
  Value* low = e.ir.CreateLShr(e.scalar(i.operands.at(1)), 16);
  e.set_scalar(i.operands.at(0), e.ir.CreateOr(low, e.ir.CreateShl(e.scalar(i.operands.at(2)), 16)));
}

void add_scalar_instructions(HandlerTable& table) {
  for (const char* mnemonic : {"s_waitcnt_vscnt", "s_waitcnt_vmcnt", "s_waitcnt_expcnt", "s_waitcnt_lgkmcnt",
                               "s_waitcnt_depctr", "s_wait_idle", "s_clause", "s_delay_alu", "s_inst_prefetch",
                               "s_set_inst_prefetch_distance", "s_version", "v_pipeflush"})
    table.add(mnemonic, *table.find("s_nop"));
  for (const char* mnemonic : {"buffer_gl0_inv", "buffer_gl1_inv", "s_gl1_inv"}) table.add(mnemonic, maintain_caches);
  table.add("s_round_mode", [](auto& e, auto& i) { set_mode(e, i, 0); });
  table.add("s_denorm_mode", [](auto& e, auto& i) { set_mode(e, i, 4); });
  table.add("s_setreg_b32", [set = *table.find("s_setreg_b32")](auto& e, auto& i) { set_register(e, i, set); });
  table.add("s_sendmsg", [send = *table.find("s_sendmsg")](auto& e, auto& i) { send_message(e, i, send); });
  table.add("s_sendmsg_rtn_b64", request_message);
  table.add("s_pack_hl_b32_b16", pack_high_low);
}

// --- Vector instructions

template <Intrinsic::ID first, Intrinsic::ID second>
Value* two_bounds(Emitter& e, Sources s) {
  return e.ir.CreateBinaryIntrinsic(second, e.ir.CreateBinaryIntrinsic(first, s[0], s[1]), s[2]);
}
Value* float_maxmin(Emitter& e, Sources s) { return minimum(e, maximum(e, s[0], s[1]), s[2]); }
Value* float_minmax(Emitter& e, Sources s) { return maximum(e, minimum(e, s[0], s[1]), s[2]); }

Value* exclusive_or3(Emitter& e, Sources s) { return e.ir.CreateXor(e.ir.CreateXor(s[0], s[1]), s[2]); }

/// The low 16 bits as a number of 32.
template <bool is_signed>
Value* extend_half(Emitter& e, Sources s) {
  llvm::Type* wide = Emitter::lanes(e.i32());
  return is_signed ? e.ir.CreateSExt(s[0], wide) : e.ir.CreateZExt(s[0], wide);
}

/// v_cvt_pk_i16_f32 and v_cvt_pk_u16_f32: S0 and S1 towards zero, saturated.
template <Intrinsic::ID conversion>
Value* pack_integers(Emitter& e, Sources s) {
  constexpr auto to_word = to_integer<conversion, 16>;
  return pack(e, to_word(e, s.first(1)), to_word(e, s.subspan(1)));
}

void select_half(Emitter& e, const Instruction& i) {
  VectorInstruction vector(e, i);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    results.at(chunk) =
        e.ir.CreateSelect(vector.mask_source(2, chunk), vector.source(1, b16, chunk), vector.source(0, b16, chunk));
  vector.write(b16, results);
}

/// v_swap_b16: its source is a destination, too.
void swap_register_halves(Emitter& e, const Instruction& i) {
  Instruction back = i;
  std::swap(back.operands.at(0), back.operands.at(1));
  const bool from_upper = i.element("op_sel", 0, 0) != 0;
  const bool to_upper = i.element("op_sel", 1, 0) != 0;
  back.modifiers = {
      {.name = "op_sel", .text = std::string("[") + (to_upper ? "1" : "0") + (from_upper ? ",1]" : ",0]")}};
  VectorInstruction forth(e, i);
  VectorInstruction other(e, back);
  Chunks sources = {};
  Chunks destinations = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    sources.at(chunk) = forth.source(0, b16, chunk);
    destinations.at(chunk) = other.source(0, b16, chunk);
  }
  forth.write(b16, sources);
  other.write(b16, destinations);
}

/// The first bits of neg_lo say which of the two sources has parts with signs.
template <unsigned bits>
void dot_of_either_sign(Emitter& e, const Instruction& i) {
  const auto is_signed = [&](std::size_t source) { return i.element("neg_lo", source, 0) != 0; };
  if (is_signed(2)) e.unsupported("neg_lo");
  const bool saturates = i.has("clamp");
  VectorInstruction vector(e, i);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const std::array sources = {vector.source(0, u32, chunk), vector.source(1, u32, chunk),
                                vector.source(2, u32, chunk)};
    results.at(chunk) = dot(e, sources, bits, {.first = is_signed(0), .second = is_signed(1), .sum = true}, saturates);
  }
  vector.write(u32, results);
}

/// v_dot2_f16_f16: rounds to nearest and keeps denormals whatever MODE says (RDNA3 ISA, 7.2.4). Both halves of an
/// inline constant in S0 and S1 are its lower one (RDNA3.5 ISA, 7.2.2), and the first two bits of op_sel mean nothing.
void dot_to_half(Emitter& e, const Instruction& i) {
  VectorInstruction vector(e, i);
  const auto pair = [&](unsigned n, unsigned chunk) {
    Value* bits = vector.source(n, packed_f16, chunk);
    const Operand& operand = i.operands.at(n + 1);
    if (operand.is_vector() || operand.is_scalar() || operand.is_literal) return bits;
    bits = e.ir.CreateAnd(bits, e.splat(0xffffU));
    return e.ir.CreateOr(bits, e.ir.CreateShl(bits, 16));
  };
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    const std::array sources = {pair(0, chunk), pair(1, chunk), half_to_float(e, vector.source(2, b16, chunk))};
    constexpr std::uint32_t to_nearest = 0;
    results.at(chunk) = round_to_half(e, dot_halves(e, sources), to_nearest);
  }
  vector.write(b16, results);
}

void add_vector_instructions(HandlerTable& table) {
  const auto op = [&](const char* mnemonic, Lane lane, unsigned sources, LaneFunction function,
                      OperationOptions options = {}) {
    add_vector_operation(table, mnemonic, {lane, std::vector<Lane>(sources, lane)}, function, options);
  };
  op("v_xor3_b32", u32, 3, exclusive_or3);
  op("v_maxmin_i32", u32, 3, two_bounds<Intrinsic::smax, Intrinsic::smin>);
  op("v_minmax_i32", u32, 3, two_bounds<Intrinsic::smin, Intrinsic::smax>);
  op("v_maxmin_u32", u32, 3, two_bounds<Intrinsic::umax, Intrinsic::umin>);
  op("v_minmax_u32", u32, 3, two_bounds<Intrinsic::umin, Intrinsic::umax>);
  op("v_maxmin_f32", f32, 3, float_maxmin);
  op("v_minmax_f32", f32, 3, float_minmax);
  op("v_maxmin_f16", f16, 3, float_maxmin);
  op("v_minmax_f16", f16, 3, float_minmax);
  op("v_fmamk_f32", f32, 3, fused_multiply_add);
  op("v_fmaak_f32", f32, 3, fused_multiply_add);
  op("v_fmamk_f16", f16, 3, fused_multiply_add_half);
  op("v_fmaak_f16", f16, 3, fused_multiply_add_half);
  op("v_fmac_f16", f16, 3, fused_multiply_add_half, {.accumulates = true});
  op("v_add_nc_u16", u16, 2, binary<Op::Add>, {.clamped = binary_intrinsic<Intrinsic::uadd_sat>});
  op("v_sub_nc_u16", u16, 2, binary<Op::Sub>, {.clamped = binary_intrinsic<Intrinsic::usub_sat>});
  op("v_and_b16", u16, 2, binary<Op::And>);
  op("v_or_b16", u16, 2, binary<Op::Or>);
  op("v_xor_b16", u16, 2, binary<Op::Xor>);
  op("v_not_b16", u16, 1, [](Emitter& e, Sources s) { return e.ir.CreateNot(s[0]); });
  op("v_mov_b16", b16, 1, [](Emitter&, Sources s) { return s[0]; });
  table.add("v_swap_b16", swap_register_halves);
  add_vector_operation(table, "v_cvt_i32_i16", {u32, {u16}}, extend_half<true>);
  add_vector_operation(table, "v_cvt_u32_u16", {u32, {u16}}, extend_half<false>);
  add_vector_operation(table, "v_cvt_pk_i16_f32", {u32, {f32, f32}}, pack_integers<Intrinsic::fptosi_sat>);
  add_vector_operation(table, "v_cvt_pk_u16_f32", {u32, {f32, f32}}, pack_integers<Intrinsic::fptoui_sat>);
  table.add("v_cndmask_b16", select_half);
  table.add("v_dot2_f16_f16", dot_to_half);
  table.add("v_dot4_i32_iu8", dot_of_either_sign<8>);
  table.add("v_dot8_i32_iu4", dot_of_either_sign<4>);
}

// --- Lanes

/// Each lane of a row reads the lane that its four bits of S2:S1 name, in its own row or in the other one of its pair.
/// op_sel's first bit reads lanes that EXEC disables, its second one 0 from them; else such a lane is not written.
void permute_rows_by_scalars(Emitter& e, const Instruction& i, unsigned other_row) {
  const bool reads_disabled = i.element("op_sel", 0, 0) != 0;
  const bool zeroes = i.element("op_sel", 1, 0) != 0;
  const Operand& destination = i.operands.at(0);
  const Operand& source = i.operands.at(1);
  if (!destination.is_vector() || !source.is_vector()) e.unsupported("operands");
  llvm::Type* type = Emitter::lanes(e.i32());
  Value* selectors = e.ir.CreateOr(e.ir.CreateZExt(e.scalar(i.operands.at(2)), e.i64()),
                                   e.ir.CreateShl(e.ir.CreateZExt(e.scalar(i.operands.at(3)), e.i64()), 32));
  std::vector<llvm::Constant*> shifts;
  for (unsigned lane = 0; lane < lanes_per_chunk; ++lane) shifts.push_back(e.ir.getInt64(4 * lane));
  Value* columns = e.ir.CreateLShr(e.splat(selectors), llvm::ConstantVector::get(shifts));
  columns = e.ir.CreateTrunc(e.ir.CreateAnd(columns, e.splat64(15)), type);

  permute_rows(e,
               {.destination = destination.index,
                .source = source.index,
                .other_row = other_row,
                .reads_disabled = reads_disabled,
                .zeroes = zeroes},
               [&](unsigned) { return columns; });
}

/// The halves of a wavefront of 64 lanes swap; lanes that EXEC disables are read, too.
void swap_halves(Emitter& e, const Instruction& i) {
  if (e.wavefront_size() == 32) return;
  Chunks values = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) values.at(chunk) = e.vector(i.operands.at(1), chunk ^ 2);
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) e.set_vector(i.operands.at(0), chunk, values.at(chunk));
}

}  // namespace

void add_rdna_instructions(HandlerTable& table) {
  add_scalar_instructions(table);
  add_vector_instructions(table);
  table.add("v_permlane16_b32", [](auto& e, auto& i) { permute_rows_by_scalars(e, i, 0); });
  table.add("v_permlanex16_b32", [](auto& e, auto& i) { permute_rows_by_scalars(e, i, 1); });
  table.add("v_permlane64_b32", swap_halves);
}

}  // namespace softgpu::compute
