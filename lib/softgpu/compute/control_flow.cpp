// SOPP, global wave sync, the program counter, and the hardware registers that programs read and set.
#include <cstddef>
#include <string_view>

#include "emitter.hpp"
#include "global_wave_sync.hpp"
#include "handler_table.hpp"
#include "lane_functions.hpp"
#include "wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

void no_operation(Emitter&, const Instruction& instruction) {
  for (const Modifier& counter : instruction.modifiers) counter.read = true;  // further counters of s_waitcnt
}

void end_program(Emitter& e, const Instruction&) { e.ir.CreateRetVoid(); }

void branch(Emitter& e, const Instruction& i) { e.ir.CreateBr(e.block_at(i.branch_target(i.operands.at(0)))); }

void branch_if(Emitter& e, const Instruction& i, Value* condition) {
  llvm::BasicBlock* taken = e.block_at(i.branch_target(i.operands.at(0)));
  e.ir.CreateCondBr(condition, taken, e.block_at(i.offset + i.size));
}

/// Calls one of WaveState's functions.
void call_back(Emitter& e, std::size_t offset, llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  Value* function = e.field(offset, e.state()->getType());
  e.ir.CreateCall(llvm::FunctionType::get(e.ir.getVoidTy(), types, false), function, arguments);
}

void barrier(Emitter& e, const Instruction&) {
  e.may_wait_for(WaitsFor::work_group);
  call_back(e, offsetof(WaveState, barrier), {e.state()});
}

void sleep(Emitter& e, const Instruction&) {
  e.may_wait_for(WaitsFor::anyone);
  call_back(e, offsetof(WaveState, yield), {e.state()});
}

Value* code_offset(Emitter& e, std::int64_t offset) { return e.ir.getInt64(static_cast<std::uint64_t>(offset)); }

/// The address of the instruction that follows.
Value* next_address(Emitter& e, const Instruction& i) {
  return e.ir.CreateAdd(e.field(offsetof(WaveState, code_address), e.i64()), code_offset(e, i.offset + i.size));
}

void trap(Emitter& e, const Instruction& i) {
  const auto id = static_cast<std::uint32_t>(i.operands.at(0).value);
  call_back(e, offsetof(WaveState, trap), {e.state(), e.ir.getInt32(id), code_offset(e, i.offset)});
  e.ir.CreateRetVoid();
}

void send_message(Emitter& e, const Instruction& i) {
  // The others are for graphics, or between the hardware's firmware and the trap handler.
  if (!i.operands.at(0).is("sendmsg(MSG_INTERRUPT)")) e.unsupported("a message of another kind than MSG_INTERRUPT");
  call_back(e, offsetof(WaveState, interrupt_host), {e.state(), e.sgpr(scalar_register::m0)});
}

/// Only a debugger makes a halted wavefront go on: it waits until its work-group is ended.
void send_message_and_halt(Emitter& e, const Instruction& i) {
  send_message(e, i);
  llvm::BasicBlock* halted = e.new_block("halted");
  e.ir.CreateBr(halted);
  e.ir.SetInsertPoint(halted);
  sleep(e, i);
  e.ir.CreateBr(halted);
}

/// The resource is M0's bits 21 to 16 plus the offset; the value is the first active lane's.
template <GlobalSync instruction>
void sync_globally(Emitter& e, const Instruction& i) {
  static_cast<void>(i.has("gds"));
  e.may_wait_for(instruction == GlobalSync::barrier ? WaitsFor::whole_grid : WaitsFor::anyone);
  Value* base = e.ir.CreateLShr(e.sgpr(scalar_register::m0), 16);
  Value* sum = e.ir.CreateAdd(base, e.ir.getInt32(static_cast<std::uint32_t>(i.number("offset"))));
  Value* resource = e.ir.CreateAnd(sum, GlobalWaveSync::resource_count - 1);
  const bool has_value = !i.operands.empty() && i.operands[0].is_vector();
  Value* value = has_value ? first_active_lane(e, i.operands[0]) : e.ir.getInt32(0);
  Value* number = e.ir.getInt32(static_cast<std::uint32_t>(instruction));
  llvm::BasicBlock* sync = e.new_block("sync");
  llvm::BasicBlock* after = e.new_block("after_sync");
  e.ir.CreateCondBr(e.ir.CreateIsNotNull(e.exec()), sync, after);
  e.ir.SetInsertPoint(sync);
  call_back(e, offsetof(WaveState, sync_globally), {e.state(), number, resource, value});
  e.ir.CreateBr(after);
  e.ir.SetInsertPoint(after);
}

void get_program_counter(Emitter& e, const Instruction& i) { e.set_scalar(i.operands.at(0), next_address(e, i)); }

void set_program_counter(Emitter& e, const Instruction& i) { e.branch_to(e.scalar64(i.operands.at(0))); }

void swap_program_counter(Emitter& e, const Instruction& i) {
  Value* target = e.scalar64(i.operands.at(1));
  e.set_scalar(i.operands.at(0), next_address(e, i));
  e.branch_to(target);
}

void call(Emitter& e, const Instruction& i) {
  e.set_scalar(i.operands.at(0), next_address(e, i));
  e.ir.CreateBr(e.block_at(i.branch_target(i.operands.at(1))));
}

/// hwreg(HW_REG_MODE, 4, 2): bits 4 and 5 of a hardware register.
struct HardwareRegister {
  std::string_view name;
  unsigned offset = 0;
  unsigned width = 32;

  static HardwareRegister parse(Emitter& e, std::string_view text) {
    if (!text.starts_with("hwreg(") || !text.ends_with(")")) e.unsupported();
    text = text.substr(6, text.size() - 7);
    HardwareRegister result;
    const std::size_t comma = text.find(',');
    result.name = text.substr(0, comma);
    if (comma == std::string_view::npos) return result;
    Modifier rest;
    for (const char c : text.substr(comma + 1))
      if (c != ' ') rest.text += c;
    const auto numbers = rest.numbers();
    if (numbers.size() != 2) e.unsupported();
    result.offset = static_cast<unsigned>(numbers[0]);
    result.width = static_cast<unsigned>(numbers[1]);
    return result;
  }
  [[nodiscard]] std::uint32_t mask() const { return width == 32 ? ~0U : (1U << width) - 1; }
};

/// SH_MEM_BASES: bits 63 to 48 of the private and of the shared aperture.
Value* memory_bases(Emitter& e) {
  const auto top = [&](std::size_t offset) { return e.ir.CreateLShr(e.field(offset, e.i64()), 48); };
  Value* both = e.ir.CreateOr(top(offsetof(WaveState, private_aperture)),
                              e.ir.CreateShl(top(offsetof(WaveState, shared_aperture)), 16));
  return e.ir.CreateTrunc(both, e.i32());
}

void get_register(Emitter& e, const Instruction& i) {
  const HardwareRegister source = HardwareRegister::parse(e, i.operands.at(1).text);
  Value* value = nullptr;
  if (source.name == "HW_REG_MODE") value = e.ir.getInt32(e.float_mode());
  if (source.name == "HW_REG_SH_MEM_BASES") value = memory_bases(e);
  if (value == nullptr) e.unsupported();
  e.set_scalar(i.operands.at(0), e.ir.CreateAnd(e.ir.CreateLShr(value, source.offset), source.mask()));
}

/// Translated code has the mode built in, so that only constants can be set.
void set_register(Emitter& e, const Instruction& i) {
  const HardwareRegister target = HardwareRegister::parse(e, i.operands.at(0).text);
  const Operand& value = i.operands.at(1);
  if (target.name != "HW_REG_MODE" || value.kind != Operand::Kind::integer) e.unsupported();
  const std::uint32_t mask = target.mask() << target.offset;
  const auto bits = static_cast<std::uint32_t>(value.value) << target.offset;
  e.set_float_mode((e.float_mode() & ~mask) | (bits & mask));
}

}  // namespace

void add_control_flow(HandlerTable& table) {
  for (const char* mnemonic : {"s_nop", "s_waitcnt", "s_setprio", "s_icache_inv", "s_incperflevel", "s_decperflevel",
                               "s_ttracedata", "s_wakeup", "v_nop", "v_clrexcp"})
    table.add(mnemonic, no_operation);
  table.add("s_endpgm", end_program);
  table.add("s_branch", branch);
  table.add("s_cbranch_scc0", [](auto& e, auto& i) { branch_if(e, i, e.ir.CreateNot(e.scc())); });
  table.add("s_cbranch_scc1", [](auto& e, auto& i) { branch_if(e, i, e.scc()); });
  table.add("s_cbranch_vccz", [](auto& e, auto& i) { branch_if(e, i, e.ir.CreateIsNull(e.vcc())); });
  table.add("s_cbranch_vccnz", [](auto& e, auto& i) { branch_if(e, i, e.ir.CreateIsNotNull(e.vcc())); });
  table.add("s_cbranch_execz", [](auto& e, auto& i) { branch_if(e, i, e.ir.CreateIsNull(e.exec())); });
  table.add("s_cbranch_execnz", [](auto& e, auto& i) { branch_if(e, i, e.ir.CreateIsNotNull(e.exec())); });
  table.add("s_barrier", barrier);
  table.add("s_sleep", sleep);
  table.add("s_trap", trap);
  table.add("ds_gws_init", sync_globally<GlobalSync::init>);
  table.add("ds_gws_barrier", sync_globally<GlobalSync::barrier>);
  table.add("ds_gws_sema_v", sync_globally<GlobalSync::raise>);
  table.add("ds_gws_sema_br", sync_globally<GlobalSync::raise_by>);
  table.add("ds_gws_sema_p", sync_globally<GlobalSync::lower>);
  table.add("ds_gws_sema_release_all", sync_globally<GlobalSync::release_all>);
  table.add("s_sendmsg", send_message);
  table.add("s_sendmsghalt", send_message_and_halt);
  table.add("s_getpc_b64", get_program_counter);
  table.add("s_setpc_b64", set_program_counter);
  table.add("s_swappc_b64", swap_program_counter);
  table.add("s_call_b64", call);
  table.add("s_getreg_b32", get_register);
  table.add("s_setreg_b32", set_register);
  table.add("s_setreg_imm32_b32", set_register);
}

}  // namespace softgpu::compute
