#include "softgpu/compute/emit/emitter.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>

#include "softgpu/compute/emit/handler_table.hpp"
#include "softgpu/compute/emit/rounding.hpp"
#include "softgpu/compute/emit/template_calls.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/run_time/registers_in_memory.hpp"

namespace softgpu::compute {

using llvm::Value;

namespace {

/// The instructions that VSKIP skips.
bool is_vector_instruction(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 8> beginnings = {"v_",    "ds_",     "buffer_",  "tbuffer_",
                                                          "flat_", "global_", "scratch_", "image_"};
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return mnemonic.starts_with(beginning); });
}

/// Where indexed registers have their mode and their index.
bool changes_m0(const Instruction& instruction) {
  return !instruction.mnemonic.starts_with("s_set_gpr_idx_") && !instruction.operands.empty() &&
         instruction.operands[0].is_scalar() && instruction.operands[0].index == scalar_register::m0;
}

/// A copy that notes which modifiers its handler reads.
Instruction unread(const Instruction& decoded) {
  Instruction copy = decoded;
  for (const Modifier& modifier : copy.modifiers) modifier.read = false;
  return copy;
}

}  // namespace

Emitter::Emitter(llvm::Function& function, const Target& target, const HandlerTable& handlers, std::uint32_t mode,
                 const EmitOptions& options)
    : VectorRegisters(function, target, options, mode), known_mode(mode), handlers_(handlers) {}

llvm::BasicBlock* Emitter::block_at(const BlockKey& key) {
  const auto [found, is_new] = blocks_.try_emplace(key, nullptr);
  if (is_new) {
    found->second = new_block("block");
    pending_blocks_.push_back(key);
  }
  return found->second;
}

llvm::BasicBlock* Emitter::block_at(std::int64_t offset) {
  if (indexing.is_on()) unsupported("a branch while VGPRs are indexed");
  const std::uint32_t mode = known_mode.current();
  if (!exec_knowledge.is_worth_a_look()) return block_at({offset, mode, exec_knowledge.all_lanes()});
  llvm::BasicBlock* choice = new_block("lanes");
  llvm::IRBuilder<> chooser(choice);
  const unsigned dwords = wavefront_size() / 32;
  Value* exec = chooser.CreateLoad(ir.getIntNTy(wavefront_size()), scalar_slot(scalar_register::exec, dwords));
  chooser.CreateCondBr(chooser.CreateICmpEQ(exec, llvm::Constant::getAllOnesValue(exec->getType())),
                       block_at({offset, mode, true}), block_at({offset, mode, false}));
  return choice;
}

std::optional<std::int64_t> Emitter::enter_next_block() {
  if (pending_blocks_.empty()) return std::nullopt;
  const BlockKey key = pending_blocks_.back();
  pending_blocks_.pop_back();
  ir.SetInsertPoint(blocks_.at(key));
  known_mode.set_current(key.mode);
  exec_knowledge.begin_block(key.all_lanes);
  address_sums.begin_block(key.offset);
  return key.offset;
}

void Emitter::call_templates(TemplateCalls& calls, unsigned vgprs, unsigned agprs) {
  templates_ = &calls;
  const unsigned ids = architecture().packs_work_item_ids ? 1 : architecture().work_item_id_registers();
  vgprs = std::max(vgprs, ids);
  const std::size_t bytes = sizeof(RegistersInMemory) + (vgprs + agprs) * RegistersInMemory::vector_bytes;
  llvm::AllocaInst* base =
      entry_ir_.CreateAlloca(llvm::ArrayType::get(entry_ir_.getInt8Ty(), bytes), nullptr, "registers");
  base->setAlignment(llvm::Align(alignof(RegistersInMemory)));
  RegisterMemory memory{.base = base, .vgprs = vgprs, .agprs = agprs, .scalars = {}, .vectors = {}};
  memory.scalars = {{0, scalar_register::count, base, offsetof(RegistersInMemory, scalar_pairs)}};
  memory.vectors = {{0, vgprs, base, sizeof(RegistersInMemory)},
                    {first_agpr, agprs, base, sizeof(RegistersInMemory) + vgprs * RegistersInMemory::vector_bytes}};
  ir.SetInsertPoint(entry_);
  call(reinterpret_cast<const void*>(&begin_registers), ir.getVoidTy(),
       {state(), base, ir.getInt32(vgprs + agprs), ir.getInt32(ids), ir.getInt32(known_mode.initial())});
  entry_ir_.SetInsertPoint(entry_);
  keep_registers_in(std::move(memory));
}

void Emitter::emit_alone(const Instruction& instruction, RegisterMemory registers, Value* offset) {
  constexpr unsigned first = scalar_register::flat_scratch;  // it and those above have no places of their own
  registers.scalars.push_back({first, scalar_register::count - first, registers.base, std::size_t{4} * first});
  keep_registers_in(std::move(registers));
  set_offset(offset);
  exec_knowledge.ignore();
  llvm::BasicBlock* body = new_block("body");
  ir.SetInsertPoint(body);
  emit(instruction);
  ir.CreateRetVoid();
  entry_ir_.CreateBr(body);
}

Value* Emitter::place_of_register(bool is_vector, unsigned number) {
  return is_vector ? place_in(memory()->vectors, number, RegistersInMemory::vector_bytes)
                   : place_in(memory()->scalars, number, 4);
}

void Emitter::emit(const Instruction& decoded) {
  set_instruction(decoded);
  const bool may_be_called =
      templates_ != nullptr && !indexing.is_on() && (known_mode.current() & mode_register::vskip) == 0;
  if (may_be_called &&
      templates_->emit(*this, *memory(), decoded, function().hasFnAttribute(llvm::Attribute::StrictFP)))
    return;
  address_sums.begin_instruction(decoded);
  if (decoded.halves.empty())
    emit_by_handler(decoded);
  else
    emit_halves(decoded);
  address_sums.end_instruction();
}

void Emitter::emit_by_handler(const Instruction& decoded) {
  set_instruction(decoded);
  if (address_sums.are_used()) expect_writes(WrittenRegisters(decoded));
  const Instruction instruction = unread(decoded);
  const Handler* handler = handlers_.find(instruction.mnemonic);
  if (handler == nullptr) unsupported();
  if ((known_mode.current() & mode_register::vskip) != 0 && is_vector_instruction(instruction.mnemonic)) return;
  if (indexing.is_on() && changes_m0(instruction)) unsupported("M0 changes while VGPRs are indexed");
  if (indexing.indexes_any() && instruction.mnemonic.starts_with("v_") && instruction.mnemonic != "v_mov_b32")
    unsupported("indexed VGPRs");
  const bool is_strict = function().hasFnAttribute(llvm::Attribute::StrictFP);
  const auto shift = is_strict ? rounding_shift(instruction.mnemonic) : std::nullopt;
  ir.setIsFPConstrained(shift.has_value());
  const std::uint32_t rounding = shift ? known_mode.current() >> *shift & 3 : 0;
  const auto switch_rounding = [&](std::uint32_t mode) {
    if (rounding != 0) call(reinterpret_cast<const void*>(&set_host_rounding), ir.getVoidTy(), {ir.getInt32(mode)});
  };
  switch_rounding(rounding);
  try {
    (*handler)(*this, instruction);
  } catch (const std::out_of_range&) {  // the disassembler prints some damaged code with fewer operands
    unsupported("operands");
  }
  switch_rounding(0);
  for (const Modifier& modifier : instruction.modifiers)
    if (!modifier.read) unsupported("modifier " + modifier.name);
}

void Emitter::emit_halves(const Instruction& instruction) {
  postpone_writes();
  emit_by_handler(instruction.halves.at(0));
  stop_postponing();
  emit_by_handler(instruction.halves.at(1));
  write_postponed();
}

void Emitter::begin(std::int64_t start) {
  exec_knowledge.forget();
  start_ = block_at(start);
}

void Emitter::finish() {
  if (indirect_ != nullptr) return finish_indirect_branches();
  entry_ir_.CreateBr(start_);
  if (templates_ == nullptr && waits_for_ == WaitsFor::nothing && !asks_for_place_) run_following_waves();
}

}  // namespace softgpu::compute
