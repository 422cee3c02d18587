// Emits LLVM IR for one kernel: the register file, the EXEC mask and the lanes, as instruction families see them.
//
// The model: one call of the generated function runs one wavefront. A scalar register pair is an i64 stack slot, a
// vector register four slots of <16 x i32> ("chunks": 16 lanes, one DPP row each); LLVM turns the slots to SSA values.
// A vector instruction is emitted chunk after chunk; what it writes is selected by EXEC. Lockstep is the instruction
// order itself: every lane of a memory instruction reads its operands before the next instruction.
//
// A handler that meets anything it does not implement calls `unsupported()`: the kernel is refused before it runs.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <llvm/IR/IRBuilder.h>

#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/instruction.hpp"
#include "softgpu/compute/program/waits_for.hpp"
#include "softgpu/compute/run_time/host_cpu.hpp"

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

class HandlerTable;

class Emitter {
public:
  /// `function` is `void(ptr WaveState)` without a body. `float_mode` is the MODE register's initial value.
  Emitter(llvm::Function& function, const Target& target, const HandlerTable& handlers, std::uint32_t float_mode,
          HostVectors vectors);

  [[nodiscard]] const Architecture& architecture() const { return *target_.architecture; }
  [[nodiscard]] unsigned wavefront_size() const { return target_.wavefront_size; }
  /// Chunks of the kernel's wavefronts.
  [[nodiscard]] unsigned chunks() const { return target_.wavefront_size / lanes_per_chunk; }

  /// Where handlers emit. A handler may add basic blocks; emission goes on where it leaves the insertion point.
  llvm::IRBuilder<> ir;

  [[nodiscard]] const Instruction& instruction() const { return *instruction_; }
  [[nodiscard]] HostVectors vectors() const { return vectors_; }
  /// Refuses the kernel because of the current instruction.
  [[noreturn]] void unsupported(const std::string& why = {}) const;
  /// A new, not yet filled basic block at the function's end.
  llvm::BasicBlock* new_block(const char* name);

  /// Memory on the wavefront's stack, for values that a C function is given by address.
  llvm::Value* entry_slot(llvm::Type* type) { return entry_ir_.CreateAlloca(type); }

  // --- Types and constants
  llvm::IntegerType* i1() { return ir.getInt1Ty(); }
  llvm::IntegerType* i32() { return ir.getInt32Ty(); }
  llvm::IntegerType* i64() { return ir.getInt64Ty(); }
  /// A chunk of `element`: <16 x element>.
  static llvm::Type* lanes(llvm::Type* element);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* splat(std::uint32_t value) { return splat(ir.getInt32(value)); }
  llvm::Value* splat64(std::uint64_t value) { return splat(ir.getInt64(value)); }

  // --- WaveState
  llvm::Value* state() { return state_; }
  /// A field that never changes while the wavefront runs: `field(offsetof(WaveState, lds), ir.getPtrTy())`.
  llvm::Value* field(std::size_t offset, llvm::Type* type);
  /// Calls a function of the soft GPU's, by its address: `call(&f, ir.getVoidTy(), {state(), x})`.
  llvm::Value* call(const void* function, llvm::Type* result, llvm::ArrayRef<llvm::Value*> arguments);
  /// The address of a constant of the soft GPU's. No address is ever a number in the code, which other processes run.
  llvm::Value* address_of(const void* constant);

  // --- Scalar registers
  llvm::Value* sgpr(unsigned index);                  ///< i32
  llvm::Value* sgpr_pair(unsigned index);             ///< i64, index is even
  void set_sgpr(unsigned index, llvm::Value* value);  ///< i32
  void set_sgpr_pair(unsigned index, llvm::Value* value);
  llvm::Value* exec() { return lane_mask(scalar_register::exec); }  ///< i64, whatever the wavefront's size
  llvm::Value* vcc() { return lane_mask(scalar_register::vcc); }    ///< i64, whatever the wavefront's size
  void set_exec(llvm::Value* mask);                                 ///< i64
  /// Where the wavefront's private memory begins (i64).
  llvm::Value* flat_scratch();
  llvm::Value* scc();  ///< i1
  void set_scc(llvm::Value* value);

  /// A scalar source: register, constant, literal, src_scc, src_shared_base and the like. Refuses negated operands.
  llvm::Value* scalar(const Operand& operand);                  ///< i32
  llvm::Value* scalar64(const Operand& operand);                ///< i64
  void set_scalar(const Operand& operand, llvm::Value* value);  ///< i32 or i64, as the value is
  /// A lane mask (i64): one register where a wavefront has 32 lanes, else two.
  llvm::Value* mask(const Operand& operand);
  void set_mask(const Operand& operand, llvm::Value* value);

  // --- Vector registers
  llvm::Value* vgpr(unsigned index, unsigned chunk);  ///< <16 x i32>
  /// Writes the lanes that EXEC enables (and `also`, <16 x i1>, where given).
  void set_vgpr(unsigned index, unsigned chunk, llvm::Value* value, llvm::Value* also = nullptr);
  /// Writes every lane of the chunk, whatever EXEC says: for v_writelane, and for what was merged before.
  void set_vgpr_unmasked(unsigned index, unsigned chunk, llvm::Value* value);
  /// EXEC's bits for a chunk, <16 x i1>.
  llvm::Value* exec_mask(unsigned chunk) { return mask_chunk(exec(), chunk); }
  /// A chunk's bits of a 64-lane mask (i64) as <16 x i1>, and back.
  llvm::Value* mask_chunk(llvm::Value* mask, unsigned chunk);
  llvm::Value* mask_from_chunks(const Chunks& bits);

  /// A vector source without modifiers: vector register, or a scalar source for all lanes. `dword` picks the register
  /// within a tuple, for stores of several dwords.
  llvm::Value* vector(const Operand& operand, unsigned chunk, unsigned dword = 0);  ///< <16 x i32>
  llvm::Value* vector64(const Operand& operand, unsigned chunk);                    ///< <16 x i64>
  void set_vector(const Operand& operand, unsigned chunk, llvm::Value* value, unsigned dword = 0);
  void set_vector64(const Operand& operand, unsigned chunk, llvm::Value* value);
  /// <16 x i64> of two <16 x i32>, and its halves.
  llvm::Value* combine(llvm::Value* low, llvm::Value* high);
  llvm::Value* low_half(llvm::Value* pair);
  llvm::Value* high_half(llvm::Value* pair);

  // --- EXEC. Where every lane is enabled nothing has to be masked: code is translated for that case and, where EXEC
  // --- may be anything, again. A path gets from one to the other where it branches.
  /// The whole program is translated once, for any EXEC.
  void treat_exec_as_unknown() { distinguishes_exec_ = false; }
  /// EXEC may be something else from here on. For handlers that branch before they write it; writing it says the same.
  void forget_exec() {
    all_lanes_ = false;
    may_regain_lanes_ = true;
  }

  // --- Control flow
  /// The block of the instruction at `offset`, to branch to.
  llvm::BasicBlock* block_at(std::int64_t offset);
  /// A block that was branched to and not emitted yet: its offset. The insertion point is moved into it.
  std::optional<std::int64_t> enter_next_block();
  /// Makes the program one that branches to where registers say; `targets` are where it has code for that. The
  /// current MODE is that of all of them.
  void allow_indirect_branches(const std::set<std::int64_t>& targets);
  /// Goes on at an address (i64), in this program or another.
  void branch_to(llvm::Value* address);
  /// The kernel may wait.
  void may_wait_for(WaitsFor what) { waits_for_ = std::max(waits_for_, what); }
  [[nodiscard]] WaitsFor waits_for() const { return waits_for_; }

  // --- MODE. What translated code depends on is known at translation (mode_register.hpp): an instruction that is
  // --- reached in several modes is translated for each of them.
  [[nodiscard]] std::uint32_t float_mode() const { return float_mode_; }
  void set_float_mode(std::uint32_t mode) { float_mode_ = mode; }
  /// The whole register, of which only the bits that translated code does not depend on are of use (i32).
  llvm::Value* mode_register() { return ir.CreateLoad(i32(), mode_slot_); }
  void set_mode_register(llvm::Value* value) { ir.CreateStore(value, mode_slot_); }
  /// The modes that the program's constants lead to, as far as translated code depends on them.
  [[nodiscard]] const std::set<std::uint32_t>& known_modes() const { return known_modes_; }
  void set_known_modes(std::set<std::uint32_t> modes) { known_modes_ = std::move(modes); }

  // --- VGPR indexing: s_set_gpr_idx_on makes VALU instructions add M0 to register numbers, up to s_set_gpr_idx_off
  enum GprIndex : unsigned { source0 = 1, source1 = 2, source2 = 4, destination = 8 };
  [[nodiscard]] unsigned gpr_index_mode() const { return gpr_index_mode_.value_or(0); }
  [[nodiscard]] bool indexes_gprs() const { return gpr_index_mode_.has_value(); }
  /// Nothing where registers are not indexed.
  void set_gpr_index_mode(std::optional<unsigned> mode) { gpr_index_mode_ = mode; }
  /// One more than the highest VGPR that the program has: as far as an index may reach.
  [[nodiscard]] unsigned vgpr_limit() const { return vgpr_limit_; }
  void set_vgpr_limit(unsigned limit) { vgpr_limit_ = limit; }

  /// Emits one instruction through its handler and checks that every modifier was read.
  void emit(const Instruction& instruction);
  /// Execution begins at `start`.
  void begin(std::int64_t start);
  /// Ends the entry block, once everything has been emitted.
  void finish();

private:
  /// An instruction, and what is known on the paths that lead there.
  struct BlockKey {
    std::int64_t offset;
    std::uint32_t float_mode;
    bool all_lanes;
    friend auto operator<=>(const BlockKey&, const BlockKey&) = default;  // NOLINT(modernize-use-nullptr)
  };
  llvm::Value* lane_mask(unsigned index);
  void emit_halves(const Instruction& instruction);
  llvm::Value* scalar_slot(unsigned index, unsigned dwords);
  llvm::Value* written_scalar_slot(unsigned index, unsigned dwords);
  llvm::BasicBlock* block_at(const BlockKey& key);
  llvm::AllocaInst* vector_slot(unsigned index, unsigned chunk);
  llvm::Value* state_address(std::size_t offset);
  template <class Move>
  void for_each_register(Move&& move);
  void finish_indirect_branches();

  struct VectorWrite {
    llvm::AllocaInst* slot;
    llvm::Value* value;
  };

  llvm::Function& function_;
  Target target_;
  const HandlerTable& handlers_;
  llvm::Value* state_;
  llvm::BasicBlock* entry_;
  llvm::IRBuilder<> entry_ir_;  ///< slots and their initial values
  std::array<llvm::AllocaInst*, scalar_register::count / 2> scalar_slots_ = {};
  std::array<std::array<llvm::AllocaInst*, chunk_count>, vector_register_count> vector_slots_ = {};
  llvm::AllocaInst* scc_slot_;
  llvm::AllocaInst* mode_slot_;
  std::map<BlockKey, llvm::BasicBlock*> blocks_;
  std::vector<BlockKey> pending_blocks_;
  std::set<std::int64_t> indirect_targets_;
  llvm::BasicBlock* start_ = nullptr;
  llvm::BasicBlock* indirect_ = nullptr;  ///< where indirect branches meet, if there are any
  llvm::Value* target_slot_ = nullptr;    ///< the address that they go to
  const Instruction* instruction_ = nullptr;
  HostVectors vectors_;
  std::vector<VectorWrite>* postponed_ = nullptr;  ///< while the first half of a VOPD instruction is emitted
  std::uint32_t float_mode_;
  std::uint32_t initial_float_mode_;
  std::set<std::uint32_t> known_modes_;
  bool all_lanes_ = false;  ///< EXEC is known to enable every lane
  bool distinguishes_exec_ = true;
  bool may_regain_lanes_ = false;  ///< EXEC was written since the last branch
  std::optional<unsigned> gpr_index_mode_;
  unsigned vgpr_limit_ = 0;
  WaitsFor waits_for_ = WaitsFor::nothing;
};

}  // namespace softgpu::compute
