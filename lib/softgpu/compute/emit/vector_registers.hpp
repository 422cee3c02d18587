// The vector registers of a wavefront in emitted code, and the operands that read and write them. A register is four
// slots of <16 x i32> ("chunks": 16 lanes, one DPP row each).
#pragma once

#include <array>
#include <vector>

#include "softgpu/compute/emit/scalar_registers.hpp"

namespace softgpu::compute {

class VectorRegisters : public ScalarRegisters {
public:
  using ScalarRegisters::ScalarRegisters;

  llvm::Value* vgpr(unsigned index, unsigned chunk);  ///< <16 x i32>
  /// What lane 0 of a register with work-items' ids starts with (i32), computed in the entry block.
  llvm::Value* first_work_item_id(unsigned index);
  /// Writes the lanes that EXEC enables (and `also`, <16 x i1>, where given).
  void set_vgpr(unsigned index, unsigned chunk, llvm::Value* value, llvm::Value* also = nullptr);
  /// Writes every lane of the chunk, whatever EXEC says: for v_writelane, and for values that were merged before.
  void set_vgpr_unmasked(unsigned index, unsigned chunk, llvm::Value* value);

  /// Where one lane (i32) of a register is, where registers are in memory; null where they are not.
  llvm::Value* lane_in_memory(unsigned index, llvm::Value* lane);

  /// A vector source without modifiers: vector register, or a scalar source for all lanes. `dword` picks the register
  /// within a tuple, for stores of several dwords.
  llvm::Value* vector(const Operand& operand, unsigned chunk, unsigned dword = 0);  ///< <16 x i32>
  llvm::Value* vector64(const Operand& operand, unsigned chunk);                    ///< <16 x i64>
  void set_vector(const Operand& operand, unsigned chunk, llvm::Value* value, unsigned dword = 0);
  void set_vector64(const Operand& operand, unsigned chunk, llvm::Value* value);

protected:
  /// Both halves of a VOPD instruction read their operands before either writes: writes are kept from
  /// `postpone_writes` on, and carried out by `write_postponed`.
  void postpone_writes() { postpones_ = true; }
  void stop_postponing() { postpones_ = false; }
  void write_postponed();

  llvm::Value* vector_slot(unsigned index, unsigned chunk);
  llvm::Value* work_item_ids(unsigned index, llvm::Type* type, unsigned first_lane);

  std::array<std::array<llvm::AllocaInst*, chunk_count>, vector_register_count> vector_slots_ = {};

private:
  struct Write {
    llvm::Value* slot;
    llvm::Value* value;
  };
  std::vector<Write> postponed_;
  bool postpones_ = false;
};

}  // namespace softgpu::compute
