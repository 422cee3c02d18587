// The scalar registers of a wavefront in emitted code, EXEC, VCC, SCC and the MODE register among them, and the
// operands that read and write them. A pair of registers is an i64 stack slot, which LLVM turns to SSA values.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "softgpu/compute/emit/exec_knowledge.hpp"
#include "softgpu/compute/emit/ir_code.hpp"
#include "softgpu/compute/emit/register_memory.hpp"

namespace softgpu::compute {

class ScalarRegisters : public IrCode {
public:
  /// `mode` is the MODE register's initial value.
  ScalarRegisters(llvm::Function& function, const Target& target, const EmitOptions& options, std::uint32_t mode);

  llvm::Value* sgpr(unsigned index);                  ///< i32
  llvm::Value* sgpr_pair(unsigned index);             ///< i64, index is even
  void set_sgpr(unsigned index, llvm::Value* value);  ///< i32
  void set_sgpr_pair(unsigned index, llvm::Value* value);
  llvm::Value* exec() { return lane_mask(scalar_register::exec); }  ///< i64, whatever the wavefront's size
  llvm::Value* vcc() { return lane_mask(scalar_register::vcc); }    ///< i64, whatever the wavefront's size
  void set_exec(llvm::Value* mask);                                 ///< i64
  /// EXEC's bits for a chunk, <16 x i1>.
  llvm::Value* exec_mask(unsigned chunk) { return mask_chunk(exec(), chunk); }
  ExecKnowledge exec_knowledge;
  /// Where the wavefront's private memory begins (i64).
  llvm::Value* flat_scratch();
  llvm::Value* scc();  ///< i1
  void set_scc(llvm::Value* value);
  /// The whole MODE register (i32). The bits that translated code depends on are of no use in it: KnownMode has them.
  llvm::Value* mode_register() { return ir.CreateLoad(i32(), mode_slot_); }
  void set_mode_register(llvm::Value* value) { ir.CreateStore(value, mode_slot_); }

  /// A scalar source: register, constant, literal, src_scc, src_shared_base and the like. Refuses negated operands.
  llvm::Value* scalar(const Operand& operand);                  ///< i32
  llvm::Value* scalar64(const Operand& operand);                ///< i64
  void set_scalar(const Operand& operand, llvm::Value* value);  ///< i32 or i64, as the value is
  /// A lane mask (i64): one register where a wavefront has 32 lanes, else two.
  llvm::Value* mask(const Operand& operand);
  void set_mask(const Operand& operand, llvm::Value* value);

protected:
  /// The slot of a register or a pair. The first use makes it and gives it its initial value.
  llvm::Value* scalar_slot(unsigned index, unsigned dwords);
  /// Before the first use of any register.
  void keep_registers_in(RegisterMemory memory);
  /// Null where registers are slots.
  [[nodiscard]] const RegisterMemory* memory() const { return memory_ ? &*memory_ : nullptr; }
  [[nodiscard]] llvm::Value* place_in(const std::vector<RegisterMemory::Run>& runs, unsigned index, unsigned bytes);

  std::array<llvm::AllocaInst*, scalar_register::count / 2> scalar_slots_ = {};
  llvm::Value* scc_slot_;
  llvm::Value* mode_slot_;

private:
  std::optional<RegisterMemory> memory_;

  llvm::Value* lane_mask(unsigned index);
  llvm::Value* written_scalar_slot(unsigned index, unsigned dwords);
};

}  // namespace softgpu::compute
