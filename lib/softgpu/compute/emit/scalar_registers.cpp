#include "softgpu/compute/emit/scalar_registers.hpp"

#include <bit>
#include <cstddef>
#include <utility>

#include "softgpu/compute/run_time/registers_in_memory.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {

using llvm::Value;

ScalarRegisters::ScalarRegisters(llvm::Function& function, const Target& target, const EmitOptions& options,
                                 std::uint32_t mode)
    : IrCode(function, target, options), scc_slot_(entry_ir_.CreateAlloca(entry_ir_.getInt1Ty(), nullptr, "scc")),
      mode_slot_(entry_ir_.CreateAlloca(entry_ir_.getInt32Ty(), nullptr, "mode")) {
  entry_ir_.CreateStore(entry_ir_.getFalse(), scc_slot_);
  entry_ir_.CreateStore(entry_ir_.getInt32(mode), mode_slot_);
}

Value* ScalarRegisters::scalar_slot(unsigned index, unsigned dwords) {
  if (index + dwords > scalar_register::count) unsupported("no such scalar register");
  if (dwords == 2 && index % 2 != 0) unsupported("a scalar pair that begins at an odd register");
  if (memory_) return place_in(memory_->scalars, index, 4);
  llvm::AllocaInst*& slot = scalar_slots_.at(index / 2);
  if (slot == nullptr) {
    const unsigned pair = index & ~1U;
    slot = entry_ir_.CreateAlloca(i64(), nullptr, llvm::Twine("s") + llvm::Twine(pair));
    const auto initial = [&](std::size_t offset, llvm::Type* type) {
      return entry_ir_.CreateLoad(type, entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), state(), offset));
    };
    Value* value = entry_ir_.getInt64(0);
    if (pair < WaveState::initial_sgpr_count) value = initial(offsetof(WaveState, sgprs) + 4 * pair, i64());
    if (pair == scalar_register::ttmp6 || pair == scalar_register::ttmp6 + 2)
      value = initial(offsetof(WaveState, sgprs) + 4 * (WaveState::ttmp6 + pair - scalar_register::ttmp6), i64());
    if (pair == scalar_register::exec) value = initial(offsetof(WaveState, exec), i64());
    if (pair == scalar_register::hidden_flat_scratch) value = initial(offsetof(WaveState, scratch_wave_base), i64());
    if (pair == scalar_register::m0) value = entry_ir_.CreateZExt(initial(offsetof(WaveState, m0), i32()), i64());
    entry_ir_.CreateStore(value, slot);
  }
  return index % 2 == 0 ? slot : ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), slot, 4);
}

void ScalarRegisters::keep_registers_in(RegisterMemory memory) {
  const auto field = [&](std::size_t offset) {
    return entry_ir_.CreateConstInBoundsGEP1_64(entry_ir_.getInt8Ty(), memory.base, offset);
  };
  scc_slot_ = field(offsetof(RegistersInMemory, scc));
  mode_slot_ = field(offsetof(RegistersInMemory, mode));
  memory_ = std::move(memory);
}

Value* ScalarRegisters::place_in(const std::vector<RegisterMemory::Run>& runs, unsigned index, unsigned bytes) {
  for (const RegisterMemory::Run& run : runs)
    if (index >= run.first && index < run.first + run.count)
      return ir.CreateConstInBoundsGEP1_64(ir.getInt8Ty(), run.address,
                                           run.offset + std::size_t{bytes} * (index - run.first));
  unsupported("a register that it does not name");
}

Value* ScalarRegisters::written_scalar_slot(unsigned index, unsigned dwords) {
  if ((index & ~1U) == scalar_register::exec) exec_knowledge.forget();
  for (unsigned dword = 0; dword < dwords; ++dword) check_scalar_write(index + dword);
  return scalar_slot(index, dwords);
}

Value* ScalarRegisters::sgpr(unsigned index) {
  if (exec_knowledge.all_lanes() &&
      (index == scalar_register::exec || (wavefront_size() == 64 && index == scalar_register::exec + 1)))
    return ir.getInt32(~std::uint32_t{0});
  return ir.CreateLoad(i32(), scalar_slot(index, 1));
}

Value* ScalarRegisters::sgpr_pair(unsigned index) {
  if (exec_knowledge.all_lanes() && wavefront_size() == 64 && index == scalar_register::exec)
    return ir.getInt64(~std::uint64_t{0});
  return ir.CreateLoad(i64(), scalar_slot(index, 2));
}

void ScalarRegisters::set_sgpr(unsigned index, Value* value) { ir.CreateStore(value, written_scalar_slot(index, 1)); }
void ScalarRegisters::set_sgpr_pair(unsigned index, Value* value) {
  ir.CreateStore(value, written_scalar_slot(index, 2));
}
Value* ScalarRegisters::lane_mask(unsigned index) {
  return wavefront_size() == 32 ? ir.CreateZExt(sgpr(index), i64()) : sgpr_pair(index);
}
void ScalarRegisters::set_exec(Value* mask) {
  if (wavefront_size() == 32)
    set_sgpr(scalar_register::exec, ir.CreateTrunc(mask, i32()));
  else
    set_sgpr_pair(scalar_register::exec, mask);
}
Value* ScalarRegisters::flat_scratch() {
  const bool is_scalar = architecture().flat_scratch == Architecture::FlatScratch::in_scalar_registers;
  return sgpr_pair(is_scalar ? scalar_register::flat_scratch : scalar_register::hidden_flat_scratch);
}
Value* ScalarRegisters::scc() { return ir.CreateLoad(i1(), scc_slot_); }
void ScalarRegisters::set_scc(Value* value) { ir.CreateStore(value, scc_slot_); }

Value* ScalarRegisters::scalar(const Operand& operand) {
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

Value* ScalarRegisters::scalar64(const Operand& operand) {
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

void ScalarRegisters::set_scalar(const Operand& operand, Value* value) {
  const unsigned dwords = value->getType()->getIntegerBitWidth() / 32;
  if (operand.kind == Operand::Kind::null) return;
  // Before a trap, LLVM saves m0 in a trap temporary of gfx11. These are the trap handler's: no kernel reads them back.
  if (operand.text.starts_with("ttmp")) return;
  if (!operand.is_scalar() || operand.dwords != dwords) unsupported("destination " + operand.text);
  ir.CreateStore(value, written_scalar_slot(operand.index, dwords));
}

Value* ScalarRegisters::mask(const Operand& operand) {
  return wavefront_size() == 32 ? ir.CreateZExt(scalar(operand), i64()) : scalar64(operand);
}
void ScalarRegisters::set_mask(const Operand& operand, Value* value) {
  set_scalar(operand, wavefront_size() == 32 ? ir.CreateTrunc(value, i32()) : value);
}

}  // namespace softgpu::compute
