// Branches to where a register says: s_setpc_b64, s_swappc_b64, and entering a program other than at its start.
//
// All of them meet in one block, which knows the functions and the return addresses of this program. A target that is
// not among them is left to the runner: the wavefront's registers go to its register file, and the translation of the
// code at the target takes them from there.
#include <cstddef>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/run_time/register_file.hpp"
#include "softgpu/compute/run_time/registers_in_memory.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

void Emitter::allow_indirect_branches(const std::set<std::int64_t>& targets) {
  target_slot_ = entry_ir_.CreateAlloca(i64(), nullptr, "target");
  indirect_ = new_block("indirect");
  exec_knowledge.forget();  // each target looks at EXEC
  for (const std::int64_t target : targets) indirect_targets_[target] = block_at(target);
}

void Emitter::branch_to(Value* address) {
  if (known_mode.current() != known_mode.initial()) unsupported("MODE differs from the kernel's at an indirect branch");
  if (indexing.is_on()) unsupported("a branch while VGPRs are indexed");
  ir.CreateStore(ir.CreateAnd(address, ~std::uint64_t{3}), target_slot_);  // the program counter has no more bits
  ir.CreateBr(indirect_);
}

Value* Emitter::state_address(std::size_t offset) {
  return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state(), offset);
}

/// Calls `move(slot, type, address in the register file, alignment)` for each register that the program uses.
template <class Move>
void Emitter::for_each_register(Move&& move) {
  Value* file = field(offsetof(WaveState, registers), state()->getType());
  const auto address = [&](std::size_t offset) { return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), file, offset); };
  for (unsigned pair = 0; pair < scalar_slots_.size(); ++pair)
    if (scalar_slots_[pair] != nullptr)
      move(scalar_slots_[pair], i64(), address(offsetof(RegisterFile, scalar_pairs) + 8 * pair), 8);
  for (unsigned index = 0; index < vector_register_count; ++index)
    for (unsigned chunk = 0; chunk < chunks(); ++chunk)
      if (vector_slots_[index][chunk] != nullptr)
        move(vector_slots_[index][chunk], lanes(i32()),
             address(offsetof(RegisterFile, vectors) + 256 * index + 64 * chunk), 64);
  move(scc_slot_, i1(), address(offsetof(RegisterFile, scc)), 1);
  move(mode_slot_, i32(), address(offsetof(RegisterFile, mode)), 4);
}

void Emitter::finish_indirect_branches() {
  const auto move_memory = [&](auto* move) {
    const RegisterMemory& in = *memory();
    call(reinterpret_cast<const void*>(move), ir.getVoidTy(),
         {state(), in.base, ir.getInt32(in.vgprs), ir.getInt32(in.agprs)});
  };
  // What a wavefront starts with has to get to the register file even where this program does not look at it.
  if (memory() == nullptr) {
    for (unsigned index = 0; index < WaveState::initial_sgpr_count; index += 2) scalar_slot(index, 2);
    if (architecture().has_group_ids_in_ttmps)
      for (const unsigned pair : {0U, 2U}) scalar_slot(scalar_register::ttmp6 + pair, 2);
    scalar_slot(scalar_register::exec, 2);
    scalar_slot(scalar_register::m0, 2);
    if (architecture().flat_scratch != Architecture::FlatScratch::in_scalar_registers)
      scalar_slot(scalar_register::hidden_flat_scratch, 2);
    for (unsigned index = 0; index < architecture().work_item_id_registers(); ++index)
      for (unsigned chunk = 0; chunk < chunks(); ++chunk) vector_slot(index, chunk);
  }

  llvm::BasicBlock* leave = new_block("leave");
  ir.SetInsertPoint(indirect_);
  Value* offset = ir.CreateSub(ir.CreateLoad(i64(), target_slot_), field(offsetof(WaveState, code_address), i64()));
  llvm::SwitchInst* choice = ir.CreateSwitch(offset, leave, static_cast<unsigned>(indirect_targets_.size()));
  for (const auto& [target, block] : indirect_targets_)
    choice->addCase(ir.getInt64(static_cast<std::uint64_t>(target)), block);

  ir.SetInsertPoint(leave);
  if (memory() != nullptr)
    move_memory(&keep_registers);
  else
    for_each_register([&](Value* slot, llvm::Type* type, Value* address, unsigned alignment) {
      ir.CreateAlignedStore(ir.CreateLoad(type, slot), address, llvm::Align(alignment));
    });
  ir.CreateStore(ir.CreateLoad(i64(), target_slot_), state_address(offsetof(WaveState, branch_target)));
  ir.CreateRetVoid();

  llvm::BasicBlock* resume = new_block("resume");
  ir.SetInsertPoint(resume);
  if (memory() != nullptr)
    move_memory(&take_registers);
  else
    for_each_register([&](Value* slot, llvm::Type* type, Value* address, unsigned alignment) {
      ir.CreateStore(ir.CreateAlignedLoad(type, address, llvm::Align(alignment)), slot);
    });
  ir.CreateStore(ir.CreateLoad(i64(), state_address(offsetof(WaveState, branch_target))), target_slot_);
  ir.CreateStore(ir.getInt64(WaveState::nowhere), state_address(offsetof(WaveState, branch_target)));
  ir.CreateBr(indirect_);

  ir.SetInsertPoint(entry_);
  Value* target = ir.CreateLoad(i64(), state_address(offsetof(WaveState, branch_target)));
  ir.CreateCondBr(ir.CreateICmpEQ(target, ir.getInt64(WaveState::nowhere)), start_, resume);
}

}  // namespace softgpu::compute
