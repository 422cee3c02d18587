#include "softgpu/compute/emit/emitter.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <stdexcept>
#include <string_view>

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "softgpu/compute/emit/handler_table.hpp"
#include "softgpu/compute/emit/rounding.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/run_time/loaded_module.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

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

Emitter::Emitter(llvm::Function& function, const Target& target, const HandlerTable& handlers, std::uint32_t float_mode,
                 HostVectors vectors)
    : ir(function.getContext()), function_(function), target_(target), handlers_(handlers), state_(function.getArg(0)),
      entry_(llvm::BasicBlock::Create(function.getContext(), "entry", &function)), entry_ir_(entry_),
      scc_slot_(entry_ir_.CreateAlloca(entry_ir_.getInt1Ty(), nullptr, "scc")),
      mode_slot_(entry_ir_.CreateAlloca(entry_ir_.getInt32Ty(), nullptr, "mode")), vectors_(vectors),
      float_mode_(float_mode), initial_float_mode_(float_mode) {
  entry_ir_.CreateStore(entry_ir_.getFalse(), scc_slot_);
  entry_ir_.CreateStore(entry_ir_.getInt32(float_mode), mode_slot_);
}

void Emitter::unsupported(const std::string& why) const {
  throw UnsupportedInstruction{instruction_->offset, instruction_->text + (why.empty() ? "" : ": " + why)};
}

llvm::BasicBlock* Emitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(function_.getContext(), name, &function_);
}

llvm::Type* Emitter::lanes(llvm::Type* element) { return llvm::FixedVectorType::get(element, lanes_per_chunk); }

Value* Emitter::splat(Value* scalar) { return ir.CreateVectorSplat(lanes_per_chunk, scalar); }

Value* Emitter::field(std::size_t offset, llvm::Type* type) {
  auto* load = ir.CreateLoad(type, ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), state_, offset));
  load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(ir.getContext(), {}));
  return load;
}

Value* Emitter::call(const void* function, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(result, types, false);
  return ir.CreateCall(function_.getParent()->getOrInsertFunction(own_symbol(function), type), arguments);
}

Value* Emitter::address_of(const void* constant) {
  return function_.getParent()->getOrInsertGlobal(own_symbol(constant), ir.getInt8Ty());
}

// --- Scalar registers

Value* Emitter::scalar_slot(unsigned index, unsigned dwords) {
  if (index + dwords > scalar_register::count) unsupported("no such scalar register");
  if (dwords == 2 && index % 2 != 0) unsupported("a scalar pair that begins at an odd register");
  llvm::AllocaInst*& slot = scalar_slots_.at(index / 2);
  if (slot == nullptr) {
    const unsigned pair = index & ~1U;
    slot = entry_ir_.CreateAlloca(i64(), nullptr, llvm::Twine("s") + llvm::Twine(pair));
    const auto initial = [&](std::size_t offset, llvm::Type* type) {
      return entry_ir_.CreateLoad(type, entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), state_, offset));
    };
    Value* value = entry_ir_.getInt64(0);
    if (pair < WaveState::initial_sgpr_count) value = initial(offsetof(WaveState, sgprs) + 4 * pair, i64());
    if (pair == scalar_register::exec) value = initial(offsetof(WaveState, exec), i64());
    if (pair == scalar_register::hidden_flat_scratch) value = initial(offsetof(WaveState, scratch_wave_base), i64());
    if (pair == scalar_register::m0) value = entry_ir_.CreateZExt(initial(offsetof(WaveState, m0), i32()), i64());
    entry_ir_.CreateStore(value, slot);
  }
  return index % 2 == 0 ? slot : ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), slot, 4);
}

Value* Emitter::written_scalar_slot(unsigned index, unsigned dwords) {
  if ((index & ~1U) == scalar_register::exec) forget_exec();
  return scalar_slot(index, dwords);
}

Value* Emitter::sgpr(unsigned index) {
  if (all_lanes_ && (index == scalar_register::exec || (wavefront_size() == 64 && index == scalar_register::exec + 1)))
    return ir.getInt32(~std::uint32_t{0});
  return ir.CreateLoad(i32(), scalar_slot(index, 1));
}

Value* Emitter::sgpr_pair(unsigned index) {
  if (all_lanes_ && wavefront_size() == 64 && index == scalar_register::exec) return ir.getInt64(~std::uint64_t{0});
  return ir.CreateLoad(i64(), scalar_slot(index, 2));
}

void Emitter::set_sgpr(unsigned index, Value* value) { ir.CreateStore(value, written_scalar_slot(index, 1)); }
void Emitter::set_sgpr_pair(unsigned index, Value* value) { ir.CreateStore(value, written_scalar_slot(index, 2)); }
Value* Emitter::lane_mask(unsigned index) {
  return wavefront_size() == 32 ? ir.CreateZExt(sgpr(index), i64()) : sgpr_pair(index);
}
void Emitter::set_exec(Value* mask) {
  if (wavefront_size() == 32)
    set_sgpr(scalar_register::exec, ir.CreateTrunc(mask, i32()));
  else
    set_sgpr_pair(scalar_register::exec, mask);
}
Value* Emitter::flat_scratch() {
  const bool is_scalar = architecture().flat_scratch == Architecture::FlatScratch::in_scalar_registers;
  return sgpr_pair(is_scalar ? scalar_register::flat_scratch : scalar_register::hidden_flat_scratch);
}
Value* Emitter::scc() { return ir.CreateLoad(i1(), scc_slot_); }
void Emitter::set_scc(Value* value) { ir.CreateStore(value, scc_slot_); }

Value* Emitter::scalar(const Operand& operand) {
  if (operand.negated || operand.absolute || operand.sign_extend) unsupported("an operand modifier");
  switch (operand.kind) {
  case Operand::Kind::scalar:
    if (operand.dwords != 1) unsupported("a register tuple where one register belongs");
    return sgpr(operand.index);
  case Operand::Kind::integer:
    return ir.getInt32(static_cast<std::uint32_t>(operand.value));
  case Operand::Kind::real:
    return ir.getInt32(std::bit_cast<std::uint32_t>(static_cast<float>(operand.real)));
  case Operand::Kind::null:
    return ir.getInt32(0);
  case Operand::Kind::symbol:
    if (operand.is("src_scc")) return ir.CreateZExt(scc(), i32());
    if (operand.is("src_vccz")) return ir.CreateZExt(ir.CreateIsNull(vcc()), i32());
    if (operand.is("src_execz")) return ir.CreateZExt(ir.CreateIsNull(exec()), i32());
    break;
  case Operand::Kind::vector:
    break;
  }
  unsupported("operand " + operand.text);
}

Value* Emitter::scalar64(const Operand& operand) {
  if (operand.negated || operand.absolute || operand.sign_extend) unsupported("an operand modifier");
  switch (operand.kind) {
  case Operand::Kind::scalar:
    if (operand.dwords != 2) unsupported("one register where a pair belongs");
    return sgpr_pair(operand.index);
  case Operand::Kind::integer:
    return ir.getInt64(static_cast<std::uint64_t>(operand.value));
  case Operand::Kind::real:
    return ir.getInt64(std::bit_cast<std::uint64_t>(operand.real));
  case Operand::Kind::null:
    return ir.getInt64(0);
  case Operand::Kind::symbol:
    if (operand.is("src_shared_base")) return field(offsetof(WaveState, shared_aperture), i64());
    if (operand.is("src_private_base")) return field(offsetof(WaveState, private_aperture), i64());
    if (operand.is("src_shared_limit"))
      return ir.CreateOr(field(offsetof(WaveState, shared_aperture), i64()), 0xffffffff);
    if (operand.is("src_private_limit"))
      return ir.CreateOr(field(offsetof(WaveState, private_aperture), i64()), 0xffffffff);
    return ir.CreateZExt(scalar(operand), i64());
  case Operand::Kind::vector:
    break;
  }
  unsupported("operand " + operand.text);
}

void Emitter::set_scalar(const Operand& operand, Value* value) {
  const unsigned dwords = value->getType()->getIntegerBitWidth() / 32;
  if (operand.kind == Operand::Kind::null) return;
  if (!operand.is_scalar() || operand.dwords != dwords) unsupported("destination " + operand.text);
  ir.CreateStore(value, written_scalar_slot(operand.index, dwords));
}

Value* Emitter::mask(const Operand& operand) {
  return wavefront_size() == 32 ? ir.CreateZExt(scalar(operand), i64()) : scalar64(operand);
}
void Emitter::set_mask(const Operand& operand, Value* value) {
  set_scalar(operand, wavefront_size() == 32 ? ir.CreateTrunc(value, i32()) : value);
}

// --- Vector registers

llvm::AllocaInst* Emitter::vector_slot(unsigned index, unsigned chunk) {
  if (index >= vector_register_count) unsupported("no such vector register");
  llvm::AllocaInst*& slot = vector_slots_.at(index).at(chunk);
  if (slot == nullptr) {
    llvm::Type* type = lanes(i32());
    slot = entry_ir_.CreateAlloca(type, nullptr, llvm::Twine("v") + llvm::Twine(index) + "." + llvm::Twine(chunk));
    Value* value = llvm::Constant::getNullValue(type);
    if (index < architecture().work_item_id_registers()) {
      Value* ids = entry_ir_.CreateLoad(
          entry_ir_.getPtrTy(),
          entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), state_, offsetof(WaveState, work_item_ids)));
      value = entry_ir_.CreateAlignedLoad(
          type, entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), ids, 64 * chunk), llvm::Align(4));
      if (!architecture().packs_work_item_ids)
        value = entry_ir_.CreateAnd(entry_ir_.CreateLShr(value, 10 * index), 0x3ff);
    }
    entry_ir_.CreateStore(value, slot);
  }
  return slot;
}

Value* Emitter::vgpr(unsigned index, unsigned chunk) { return ir.CreateLoad(lanes(i32()), vector_slot(index, chunk)); }

void Emitter::set_vgpr(unsigned index, unsigned chunk, Value* value, Value* also) {
  Value* mask = exec_mask(chunk);
  if (also != nullptr) mask = ir.CreateAnd(mask, also);
  set_vgpr_unmasked(index, chunk, ir.CreateSelect(mask, value, vgpr(index, chunk)));
}

void Emitter::set_vgpr_unmasked(unsigned index, unsigned chunk, Value* value) {
  llvm::AllocaInst* slot = vector_slot(index, chunk);
  if (postponed_ != nullptr)
    postponed_->push_back({slot, value});
  else
    ir.CreateStore(value, slot);
}

Value* Emitter::mask_chunk(Value* mask, unsigned chunk) {
  if (chunk >= chunks()) return llvm::Constant::getNullValue(lanes(i1()));
  Value* bits = ir.CreateTrunc(chunk == 0 ? mask : ir.CreateLShr(mask, lanes_per_chunk * chunk), ir.getInt16Ty());
  return ir.CreateBitCast(bits, lanes(i1()));
}

Value* Emitter::mask_from_chunks(const Chunks& bits) {
  Value* mask = nullptr;
  for (unsigned chunk = 0; chunk < chunks(); ++chunk) {
    Value* part = ir.CreateZExt(ir.CreateBitCast(bits.at(chunk), ir.getInt16Ty()), i64());
    if (chunk != 0) part = ir.CreateShl(part, lanes_per_chunk * chunk);
    mask = chunk == 0 ? part : ir.CreateOr(mask, part);
  }
  return mask;
}

Value* Emitter::vector(const Operand& operand, unsigned chunk, unsigned dword) {
  if (!operand.is_vector()) return splat(scalar(operand));
  if (operand.negated || operand.absolute || operand.sign_extend) unsupported("an operand modifier");
  if (dword >= operand.dwords) unsupported("a wider operand than " + operand.text + " was expected");
  return vgpr(operand.index + dword, chunk);
}

Value* Emitter::vector64(const Operand& operand, unsigned chunk) {
  if (!operand.is_vector()) return splat(scalar64(operand));
  return combine(vector(operand, chunk, 0), vector(operand, chunk, 1));
}

void Emitter::set_vector(const Operand& operand, unsigned chunk, Value* value, unsigned dword) {
  if (!operand.is_vector() || dword >= operand.dwords) unsupported("destination " + operand.text);
  set_vgpr(operand.index + dword, chunk, value);
}

void Emitter::set_vector64(const Operand& operand, unsigned chunk, Value* value) {
  set_vector(operand, chunk, low_half(value), 0);
  set_vector(operand, chunk, high_half(value), 1);
}

Value* Emitter::combine(Value* low, Value* high) {
  llvm::Type* wide = lanes(i64());
  return ir.CreateOr(ir.CreateZExt(low, wide), ir.CreateShl(ir.CreateZExt(high, wide), 32));
}

Value* Emitter::low_half(Value* pair) { return ir.CreateTrunc(pair, lanes(i32())); }
Value* Emitter::high_half(Value* pair) { return ir.CreateTrunc(ir.CreateLShr(pair, 32), lanes(i32())); }

// --- Control flow

llvm::BasicBlock* Emitter::block_at(const BlockKey& key) {
  const auto [found, is_new] = blocks_.try_emplace(key, nullptr);
  if (is_new) {
    found->second = new_block("block");
    pending_blocks_.push_back(key);
  }
  return found->second;
}

llvm::BasicBlock* Emitter::block_at(std::int64_t offset) {
  if (indexes_gprs()) unsupported("a branch while VGPRs are indexed");
  if (!distinguishes_exec_ || !may_regain_lanes_) return block_at({offset, float_mode_, all_lanes_});
  llvm::BasicBlock* choice = new_block("lanes");
  llvm::IRBuilder<> chooser(choice);
  const unsigned dwords = wavefront_size() / 32;
  Value* exec = chooser.CreateLoad(ir.getIntNTy(wavefront_size()), scalar_slot(scalar_register::exec, dwords));
  chooser.CreateCondBr(chooser.CreateICmpEQ(exec, llvm::Constant::getAllOnesValue(exec->getType())),
                       block_at({offset, float_mode_, true}), block_at({offset, float_mode_, false}));
  return choice;
}

std::optional<std::int64_t> Emitter::enter_next_block() {
  if (pending_blocks_.empty()) return std::nullopt;
  const BlockKey key = pending_blocks_.back();
  pending_blocks_.pop_back();
  ir.SetInsertPoint(blocks_.at(key));
  float_mode_ = key.float_mode;
  all_lanes_ = key.all_lanes;
  may_regain_lanes_ = false;
  return key.offset;
}

void Emitter::emit(const Instruction& decoded) {
  instruction_ = &decoded;
  if (!decoded.halves.empty()) return emit_halves(decoded);
  const Instruction instruction = unread(decoded);
  const Handler* handler = handlers_.find(instruction.mnemonic);
  if (handler == nullptr) unsupported();
  if ((float_mode_ & mode_register::vskip) != 0 && is_vector_instruction(instruction.mnemonic)) return;
  if (indexes_gprs() && changes_m0(instruction)) unsupported("M0 changes while VGPRs are indexed");
  if (gpr_index_mode() != 0 && instruction.mnemonic.starts_with("v_") && instruction.mnemonic != "v_mov_b32")
    unsupported("indexed VGPRs");
  const bool is_strict = function_.hasFnAttribute(llvm::Attribute::StrictFP);
  const auto shift = is_strict ? rounding_shift(instruction.mnemonic) : std::nullopt;
  ir.setIsFPConstrained(shift.has_value());
  const std::uint32_t rounding = shift ? float_mode_ >> *shift & 3 : 0;
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
  std::vector<VectorWrite> writes;
  postponed_ = &writes;
  emit(instruction.halves.at(0));
  postponed_ = nullptr;
  emit(instruction.halves.at(1));
  for (const VectorWrite& write : writes) ir.CreateStore(write.value, write.slot);
}

void Emitter::begin(std::int64_t start) {
  forget_exec();
  start_ = block_at(start);
}

void Emitter::finish() {
  if (indirect_ != nullptr) return finish_indirect_branches();
  entry_ir_.CreateBr(start_);
}

}  // namespace softgpu::compute
