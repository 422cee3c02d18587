// The LLVM function of one kernel, and what every part of the emitter needs to fill it: types, constants, the
// wavefront's state, calls of the soft GPU's own functions, and the refusal of an instruction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <llvm/IR/IRBuilder.h>

#include "softgpu/compute/emit/emit_options.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/program/written_registers.hpp"

namespace softgpu::compute {

/// Thrown while a kernel is translated; the engine makes a Failure of it.
struct UnsupportedInstruction {
  std::int64_t offset;
  std::string text;
};

/// Chunks of a wavefront of 64 lanes; one of 32 has two.
inline constexpr unsigned chunk_count = 4;
inline constexpr unsigned lanes_per_chunk = 16;
/// One value a chunk.
using Chunks = std::array<llvm::Value*, chunk_count>;

/// What holds of every function of translated code.
void set_attributes(llvm::Function& function);

class IrCode {
public:
  /// `function` is `void(ptr WaveState)` without a body.
  IrCode(llvm::Function& function, const Target& target, const EmitOptions& options);

  [[nodiscard]] const Architecture& architecture() const { return *target_.architecture; }
  [[nodiscard]] unsigned wavefront_size() const { return target_.wavefront_size; }
  /// Chunks of the kernel's wavefronts.
  [[nodiscard]] unsigned chunks() const { return target_.wavefront_size / lanes_per_chunk; }
  [[nodiscard]] HostVectors vectors() const { return options_.vectors; }
  [[nodiscard]] profile::KernelProfile* profile() const { return options_.profile; }
  /// Where an access has fast ways and one that serves them all, only that one is emitted.
  [[nodiscard]] bool is_compact() const { return options_.is_compact; }
  [[nodiscard]] bool has_caches() const { return options_.caches == Caches::kept; }

  /// Where handlers emit. A handler may add basic blocks; emission goes on where it leaves the insertion point.
  llvm::IRBuilder<> ir;

  [[nodiscard]] const Instruction& instruction() const { return *instruction_; }
  /// Refuses the kernel because of the current instruction.
  [[noreturn]] void unsupported(const std::string& why = {}) const;
  /// A new, not yet filled basic block at the function's end.
  llvm::BasicBlock* new_block(const char* name);

  /// Where an instruction is in its kernel (i64).
  llvm::Value* offset_of(const Instruction& instruction) {
    return offset_ != nullptr ? offset_ : ir.getInt64(static_cast<std::uint64_t>(instruction.offset));
  }

  /// Memory on the wavefront's stack, for values that a C function is given by address.
  llvm::Value* entry_slot(llvm::Type* type) { return entry_ir_.CreateAlloca(type); }
  /// The same for what the entry block computed: its value at first.
  llvm::Value* entry_slot(llvm::Value* initial) {
    llvm::Value* slot = entry_slot(initial->getType());
    entry_ir_.CreateStore(initial, slot);
    return slot;
  }

  // --- Types and constants
  llvm::IntegerType* i1() { return ir.getInt1Ty(); }
  llvm::IntegerType* i32() { return ir.getInt32Ty(); }
  llvm::IntegerType* i64() { return ir.getInt64Ty(); }
  /// A chunk of `element`: <16 x element>.
  static llvm::Type* lanes(llvm::Type* element);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* splat(std::uint32_t value) { return splat(ir.getInt32(value)); }
  llvm::Value* splat64(std::uint64_t value) { return splat(ir.getInt64(value)); }
  /// <16 x i64> of two <16 x i32>, and its halves.
  llvm::Value* combine(llvm::Value* low, llvm::Value* high);
  llvm::Value* low_half(llvm::Value* pair);
  llvm::Value* high_half(llvm::Value* pair);
  /// A chunk's bits of a 64-lane mask (i64) as <16 x i1>, and back.
  llvm::Value* mask_chunk(llvm::Value* mask, unsigned chunk);
  llvm::Value* mask_from_chunks(const Chunks& bits);

  // --- WaveState
  llvm::Value* state() { return state_; }
  /// A field that never changes while the wavefront runs: `field(offsetof(WaveState, lds), ir.getPtrTy())`.
  llvm::Value* field(std::size_t offset, llvm::Type* type);
  /// Calls a function of the soft GPU's, by its address: `call(&f, ir.getVoidTy(), {state(), x})`.
  llvm::Value* call(const void* function, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  /// The address of a constant of the soft GPU's. No address is ever a number in the code, which other processes run.
  llvm::Value* address_of(const void* constant);

protected:
  /// The instruction that is emitted, for messages.
  void set_instruction(const Instruction& instruction) { instruction_ = &instruction; }
  /// From now on, the registers that code is emitted to write are among these.
  void expect_writes(const WrittenRegisters& registers) { expected_writes_ = registers; }
  /// Refuses the kernel otherwise: facts about the register were kept that do not hold any more.
  void check_vector_write(unsigned index) const;
  void check_scalar_write(unsigned index) const;
  [[nodiscard]] const llvm::Function& function() const { return function_; }

  /// Only one instruction is emitted, for all places that it is at.
  void set_offset(llvm::Value* offset) { offset_ = offset; }

  llvm::BasicBlock* entry_;
  llvm::IRBuilder<> entry_ir_;  ///< slots and their initial values

private:
  llvm::Function& function_;
  Target target_;
  EmitOptions options_;
  llvm::Value* state_;
  llvm::Value* offset_ = nullptr;
  const Instruction* instruction_ = nullptr;
  std::optional<WrittenRegisters> expected_writes_;
};

}  // namespace softgpu::compute
