// Instructions of RDNA4 that RDNA3.5 lacks. Its matrix instructions stand in a file of their own.
#include <cstddef>
#include <cstdint>
#include <string>

#include "softgpu/compute/emit/memory_order.hpp"
#include "softgpu/compute/instructions/byte_float_functions.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/float_functions.hpp"
#include "softgpu/compute/instructions/half_functions.hpp"
#include "softgpu/compute/instructions/row_permutation.hpp"
#include "softgpu/compute/run_time/clocks.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;
using enum Lane;

// --- Barriers in two parts: a wavefront signals, and waits later. Here it arrives at the barrier when it waits.

Value* field_place(Emitter& e, std::size_t offset) {
  return e.ir.CreateConstInBoundsGEP1_64(e.ir.getInt8Ty(), e.state(), offset);
}

/// -1 is the work-group's barrier, which LLVM before 20 writes as 0xffff where it is an immediate.
void check_barrier(Emitter& e, const Operand& barrier) {
  const bool is_the_groups =
      barrier.kind == Operand::Kind::integer && static_cast<std::int16_t>(barrier.value) == std::int16_t{-1};
  if (!is_the_groups) e.unsupported("a barrier other than the work-group's");
}

void signal_barrier(Emitter& e, const Instruction& i) {
  check_barrier(e, i.operands.at(0));
  e.may_wait_for(WaitsFor::work_group);
  Value* place = field_place(e, offsetof(WaveState, barrier_signals));
  e.ir.CreateStore(e.ir.CreateAdd(e.ir.CreateLoad(e.i32(), place), e.ir.getInt32(1)), place);
}

void signal_barrier_first(Emitter& e, const Instruction& i) {
  signal_barrier(e, i);
  Value* function = e.field(offsetof(WaveState, signals_first), e.state()->getType());
  Value* is_first =
      e.ir.CreateCall(llvm::FunctionType::get(e.i32(), {e.state()->getType()}, false), function, {e.state()});
  e.set_scc(e.ir.CreateIsNotNull(is_first));
}

void wait_at_barrier(Emitter& e, const Instruction& i, const Handler& barrier) {
  check_barrier(e, i.operands.at(0));
  barrier(e, i);
}

// --- Hardware registers

/// The other registers are laid out in another way than on RDNA3, or are the trap handler's.
void read_register(Emitter& e, const Instruction& i, const Handler& otherwise) {
  const std::string& text = i.operands.at(1).text;
  const auto begins = [&](const char* name) {
    return text == std::string("hwreg(") + name + ")" || text.starts_with(std::string("hwreg(") + name + ",");
  };
  if (begins("HW_REG_MODE")) return otherwise(e, i);
  const auto give = [&](Value* value) {
    if (text.find(',') != std::string::npos) e.unsupported("a part of the register");
    e.set_scalar(i.operands.at(0), value);
  };
  const auto clock = [&] { return e.call(reinterpret_cast<const void*>(&runtime::shader_clock), e.i64(), {}); };
  if (begins("HW_REG_SHADER_CYCLES_LO")) return give(e.ir.CreateTrunc(clock(), e.i32()));
  if (begins("HW_REG_SHADER_CYCLES_HI")) return give(e.ir.CreateTrunc(e.ir.CreateLShr(clock(), 32), e.i32()));
  if (begins("HW_REG_SCRATCH_BASE_LO")) return give(e.sgpr(scalar_register::hidden_flat_scratch));
  if (begins("HW_REG_SCRATCH_BASE_HI")) return give(e.sgpr(scalar_register::hidden_flat_scratch + 1));
  e.unsupported();
}

void add_scalar_rdna4_instructions(HandlerTable& table) {
  const Handler no_operation = *table.find("s_nop");
  for (const char* counter :
       {"loadcnt", "storecnt", "dscnt", "kmcnt", "samplecnt", "bvhcnt", "expcnt", "loadcnt_dscnt", "storecnt_dscnt"})
    table.add(std::string("s_wait_") + counter, no_operation);
  for (const char* hint : {"s_prefetch_inst", "s_prefetch_inst_pc_rel", "s_prefetch_data", "s_prefetch_data_pc_rel",
                           "s_buffer_prefetch_data", "s_singleuse_vdst"})
    table.add(hint, no_operation);
  for (const char* mnemonic : {"global_inv", "global_wb", "global_wbinv"}) table.add(mnemonic, maintain_caches);
  table.add("s_barrier_signal", signal_barrier);
  table.add("s_barrier_signal_isfirst", signal_barrier_first);
  table.add("s_barrier_wait",
            [barrier = *table.find("s_barrier")](auto& e, auto& i) { wait_at_barrier(e, i, barrier); });
  table.add("s_sleep_var", *table.find("s_sleep"));
  table.add("s_getreg_b32", [get = *table.find("s_getreg_b32")](auto& e, auto& i) { read_register(e, i, get); });
}

// --- Minima and maxima that are NaN where a source is (minimum and maximum of IEEE 754-2019)

Value* is_loud_nan(Emitter& e, Value* value) {
  const std::uint64_t quiet = value->getType()->getScalarSizeInBits() == 64 ? 1ULL << 51 : 1ULL << 22;
  Value* is_loud = e.ir.CreateIsNull(low_bits(e, bits_of(e, value), quiet));
  return e.ir.CreateAnd(is_nan(e, value), is_loud);
}

/// Of two NaNs a signaling one comes first, then the first one.
Value* first_nan(Emitter& e, Value* a, Value* b, Value* otherwise) {
  Value* result = e.ir.CreateSelect(is_nan(e, a), a, e.ir.CreateSelect(is_nan(e, b), b, otherwise));
  result = e.ir.CreateSelect(is_loud_nan(e, b), quieted(e, b), result);
  return e.ir.CreateSelect(is_loud_nan(e, a), quieted(e, a), result);
}
Value* lower(Emitter& e, Value* a, Value* b) { return first_nan(e, a, b, minimum(e, a, b)); }
Value* upper(Emitter& e, Value* a, Value* b) { return first_nan(e, a, b, maximum(e, a, b)); }

Value* lower_of_two(Emitter& e, Sources s) { return lower(e, s[0], s[1]); }
Value* upper_of_two(Emitter& e, Sources s) { return upper(e, s[0], s[1]); }
Value* lower_of_three(Emitter& e, Sources s) { return lower(e, lower(e, s[0], s[1]), s[2]); }
Value* upper_of_three(Emitter& e, Sources s) { return upper(e, upper(e, s[0], s[1]), s[2]); }
Value* upper_bounded(Emitter& e, Sources s) { return lower(e, upper(e, s[0], s[1]), s[2]); }
Value* lower_bounded(Emitter& e, Sources s) { return upper(e, lower(e, s[0], s[1]), s[2]); }

void add_minima_and_maxima(HandlerTable& table) {
  const auto add = [&](const std::string& name, Lane lane, unsigned sources, LaneFunction function) {
    const char* type = lane == f16 ? "_f16" : lane == f32 ? "_f32" : "_f64";
    add_vector_operation(table, name + type, {lane, std::vector<Lane>(sources, lane)}, function);
  };
  for (const Lane lane : {f16, f32, f64}) {
    add("v_minimum", lane, 2, lower_of_two);
    add("v_maximum", lane, 2, upper_of_two);
    if (lane == f64) continue;
    add("v_minimum3", lane, 3, lower_of_three);
    add("v_maximum3", lane, 3, upper_of_three);
    add("v_maximumminimum", lane, 3, upper_bounded);
    add("v_minimummaximum", lane, 3, lower_bounded);
    add("s_minimum", lane, 2, lower_of_two);
    add("s_maximum", lane, 2, upper_of_two);
  }
  add_packed_half_operation(table, "v_pk_minimum_f16", lower_of_two);
  add_packed_half_operation(table, "v_pk_maximum_f16", upper_of_two);
}

// --- FP8 and BF8: the conversions of one byte have a field of their own for its number

template <const ByteFloat& type>
void widen_byte(Emitter& e, const Instruction& i) {
  static_cast<void>(i.has("op_sel"));  // the field's bits, in another order
  const auto shift = static_cast<std::uint32_t>(8 * i.number("byte_sel"));
  VectorInstruction vector(e, i);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk)
    results.at(chunk) = widened<type>(e, e.ir.CreateLShr(vector.source(0, u32, chunk), shift));
  vector.write(f32, results);
}

template <const ByteFloat& type>
void widen_two_bytes(Emitter& e, const Instruction& i) {
  const std::uint32_t shift = i.element("op_sel", 0, 0) != 0 ? 16 : 0;
  VectorInstruction vector(e, i);
  Chunks results = {};
  for (unsigned chunk = 0; chunk < e.chunks(); ++chunk) {
    Value* bytes = e.ir.CreateLShr(vector.source(0, u32, chunk), shift);
    results.at(chunk) =
        e.combine(bits_of(e, widened<type>(e, bytes)), bits_of(e, widened<type>(e, e.ir.CreateLShr(bytes, 8))));
  }
  vector.write(u64, results);
}

void add_byte_conversions(HandlerTable& table) {
  add_ocp_byte_floats(table);
  table.add("v_cvt_f32_fp8", widen_byte<ocp_fp8_format>);
  table.add("v_cvt_f32_bf8", widen_byte<ocp_bf8_format>);
  table.add("v_cvt_pk_f32_fp8", widen_two_bytes<ocp_fp8_format>);
  table.add("v_cvt_pk_f32_bf8", widen_two_bytes<ocp_bf8_format>);
}

// --- Lanes

/// As v_permlane16_b32 and v_permlanex16_b32, with a number of four bits in each lane of a vector register.
void permute_rows_by_vector(Emitter& e, const Instruction& i, unsigned other_row) {
  const bool reads_disabled = i.element("op_sel", 0, 0) != 0;
  const bool zeroes = i.element("op_sel", 1, 0) != 0;
  const Operand& destination = i.operands.at(0);
  const Operand& source = i.operands.at(1);
  if (!destination.is_vector() || !source.is_vector() || !i.operands.at(2).is_vector()) e.unsupported("operands");
  permute_rows(e,
               {.destination = destination.index,
                .source = source.index,
                .other_row = other_row,
                .reads_disabled = reads_disabled,
                .zeroes = zeroes},
               [&](unsigned chunk) { return e.ir.CreateAnd(e.vector(i.operands[2], chunk), e.splat(15U)); });
}

}  // namespace

void add_rdna4_instructions(HandlerTable& table) {
  add_scalar_rdna4_instructions(table);
  add_minima_and_maxima(table);
  add_byte_conversions(table);
  for (const std::string name : {"exp", "log", "rcp", "rsq", "sqrt"})
    for (const char* type : {"_f16", "_f32"}) table.add("v_s_" + name + type, *table.find("v_" + name + type));
  table.add("v_permlane16_var_b32", [](auto& e, auto& i) { permute_rows_by_vector(e, i, 0); });
  table.add("v_permlanex16_var_b32", [](auto& e, auto& i) { permute_rows_by_vector(e, i, 1); });
}

}  // namespace softgpu::compute
