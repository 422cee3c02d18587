// SOPP, global wave sync, and other instructions that change the program counter.
#include <cstddef>
#include <string>

#include <llvm/IR/Intrinsics.h>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/instructions/lane_functions.hpp"
#include "softgpu/compute/run_time/global_wave_sync.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using llvm::Value;

void no_operation(Emitter&, const Instruction& instruction) {
  for (const Modifier& counter : instruction.modifiers) counter.read = true;  // further counters of s_waitcnt
}

void end_program(Emitter& e, const Instruction&) { e.ir.CreateRetVoid(); }

void branch_always(Emitter& e, const Instruction& i) { e.ir.CreateBr(e.block_at(i.branch_target(i.operands.at(0)))); }

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
void halt(Emitter& e, const Instruction& i) {
  llvm::BasicBlock* halted = e.new_block("halted");
  e.ir.CreateBr(halted);
  e.ir.SetInsertPoint(halted);
  sleep(e, i);
  e.ir.CreateBr(halted);
}

void send_message_and_halt(Emitter& e, const Instruction& i) {
  send_message(e, i);
  halt(e, i);
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

void set_halt(Emitter& e, const Instruction& i) {
  if ((i.operands.at(0).value & 1) != 0) halt(e, i);
}

void set_kill(Emitter& e, const Instruction& i) {
  if ((i.operands.at(0).value & 1) != 0) e.ir.CreateRetVoid();
}

// --- Forks ("Arbitrary Divergent Control Flow"): a stack of masks and addresses from s0 on. MODE has its depth. The
// --- path with fewer lanes runs first.

constexpr unsigned stack_entries = 6;
constexpr unsigned entry_registers = 4;

Value* stack_depth(Emitter& e) { return e.ir.CreateLShr(e.mode_register(), mode_register::stack_shift); }
void set_stack_depth(Emitter& e, Value* depth) {
  Value* kept = e.ir.CreateAnd(e.mode_register(), ~(7U << mode_register::stack_shift));
  e.set_mode_register(e.ir.CreateOr(kept, e.ir.CreateShl(depth, mode_register::stack_shift)));
}

void push(Emitter& e, Value* mask, Value* address) {
  Value* depth = stack_depth(e);
  for (unsigned n = 0; n < stack_entries; ++n) {
    Value* is_here = e.ir.CreateICmpEQ(depth, e.ir.getInt32(n));
    const auto put = [&](unsigned index, Value* value) {
      e.set_sgpr_pair(index, e.ir.CreateSelect(is_here, value, e.sgpr_pair(index)));
    };
    put(n * entry_registers, mask);
    put(n * entry_registers + 2, address);
  }
  set_stack_depth(e, e.ir.CreateAdd(depth, e.ir.getInt32(1)));
}

/// `go_to_target` branches; `target` is the same as an address.
template <class GoToTarget>
void fork(Emitter& e, const Instruction& i, Value* condition, Value* target, GoToTarget&& go_to_target) {
  e.exec_knowledge.forget();
  Value* exec = e.exec();
  Value* pass = e.ir.CreateAnd(condition, exec);
  Value* fail = e.ir.CreateAnd(e.ir.CreateNot(condition), exec);
  llvm::BasicBlock* taken = e.new_block("taken");
  llvm::BasicBlock* not_all = e.new_block("not_all");
  llvm::BasicBlock* both = e.new_block("both");
  llvm::BasicBlock* fail_first = e.new_block("fail_first");
  llvm::BasicBlock* pass_first = e.new_block("pass_first");
  llvm::BasicBlock* next = e.block_at(i.offset + i.size);
  e.ir.CreateCondBr(e.ir.CreateICmpEQ(pass, exec), taken, not_all);
  e.ir.SetInsertPoint(not_all);
  e.ir.CreateCondBr(e.ir.CreateICmpEQ(fail, exec), next, both);

  e.ir.SetInsertPoint(both);
  const auto count = [&](Value* mask) { return e.ir.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, mask); };
  e.ir.CreateCondBr(e.ir.CreateICmpULT(count(fail), count(pass)), fail_first, pass_first);

  e.ir.SetInsertPoint(fail_first);
  e.set_sgpr_pair(scalar_register::exec, fail);
  push(e, pass, target);
  e.ir.CreateBr(next);

  e.ir.SetInsertPoint(pass_first);
  e.set_sgpr_pair(scalar_register::exec, pass);
  push(e, fail, next_address(e, i));
  e.ir.CreateBr(taken);

  e.ir.SetInsertPoint(taken);
  go_to_target();
}

void fork_to_label(Emitter& e, const Instruction& i) {
  const std::int64_t target = i.branch_target(i.operands.at(1));
  Value* address = e.ir.CreateAdd(e.field(offsetof(WaveState, code_address), e.i64()), code_offset(e, target));
  fork(e, i, e.scalar64(i.operands.at(0)), address, [&] { e.ir.CreateBr(e.block_at(target)); });
}

void fork_to_address(Emitter& e, const Instruction& i) {
  Value* address = e.scalar64(i.operands.at(1));
  fork(e, i, e.scalar64(i.operands.at(0)), address, [&] { e.branch_to(address); });
}

/// The second path that comes here goes on: the stack is then as deep as before the fork.
void join(Emitter& e, const Instruction& i) {
  Value* depth = stack_depth(e);
  llvm::BasicBlock* first = e.new_block("first");
  Value* is_second = e.ir.CreateICmpEQ(depth, e.scalar(i.operands.at(0)));
  e.ir.CreateCondBr(is_second, e.block_at(i.offset + i.size), first);
  e.ir.SetInsertPoint(first);
  depth = e.ir.CreateAnd(e.ir.CreateSub(depth, e.ir.getInt32(1)), 7);
  set_stack_depth(e, depth);
  Value* mask = e.ir.getInt64(0);
  Value* address = e.ir.getInt64(0);
  for (unsigned n = 0; n < stack_entries; ++n) {
    Value* is_here = e.ir.CreateICmpEQ(depth, e.ir.getInt32(n));
    mask = e.ir.CreateSelect(is_here, e.sgpr_pair(n * entry_registers), mask);
    address = e.ir.CreateSelect(is_here, e.sgpr_pair(n * entry_registers + 2), address);
  }
  e.set_sgpr_pair(scalar_register::exec, mask);
  e.branch_to(address);
}

}  // namespace

void add_control_flow(HandlerTable& table) {
  for (const char* mnemonic : {"s_nop", "s_waitcnt", "s_setprio", "s_icache_inv", "s_incperflevel", "s_decperflevel",
                               "s_ttracedata", "s_ttracedata_imm", "s_wakeup", "v_nop", "v_clrexcp"})
    table.add(mnemonic, no_operation);
  table.add("s_endpgm", end_program);
  table.add("s_endpgm_saved", end_program);
  table.add("s_branch", branch_always);
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
  table.add("s_cbranch_i_fork", fork_to_label);
  table.add("s_cbranch_g_fork", fork_to_address);
  table.add("s_cbranch_join", join);
  // A debugger is never attached.
  for (const char* condition : {"sys", "user", "sys_or_user", "sys_and_user"})
    table.add(std::string("s_cbranch_cdbg") + condition, [](auto&, auto&) {});
  table.add("s_sethalt", set_halt);
  table.add("s_setkill", set_kill);
}

}  // namespace softgpu::compute
