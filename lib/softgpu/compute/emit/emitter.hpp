// Emits LLVM IR for one kernel: the registers and lanes, as instruction families see them, and the way from instruction
// to instruction.
//
// The model: one call of the generated function runs one wavefront. A vector instruction is emitted chunk after chunk;
// EXEC selects the lanes that it writes. Lockstep is the instruction order itself: every lane of a memory instruction
// reads its operands before the next instruction.
//
// A handler that meets anything it does not implement calls `unsupported()`: the kernel is refused before it runs.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "softgpu/compute/emit/address_sums.hpp"
#include "softgpu/compute/emit/known_mode.hpp"
#include "softgpu/compute/emit/vector_registers.hpp"
#include "softgpu/compute/emit/vgpr_indexing.hpp"
#include "softgpu/compute/program/waits_for.hpp"

namespace softgpu::compute {

class HandlerTable;
class TemplateCalls;

class Emitter : public VectorRegisters {
public:
  /// `function` is `void(ptr WaveState)` without a body. `mode` is the MODE register's initial value.
  Emitter(llvm::Function& function, const Target& target, const HandlerTable& handlers, std::uint32_t mode,
          const EmitOptions& options);

  KnownMode known_mode;
  VgprIndexing indexing;
  AddressSums address_sums{*this};

  /// The block of the instruction at `offset`, to branch to.
  llvm::BasicBlock* block_at(std::int64_t offset);
  /// A block that was branched to and not emitted yet: its offset. The insertion point is moved into it.
  std::optional<std::int64_t> enter_next_block();
  /// Makes the program one that branches to where registers say; `targets` are where it has code for that. The
  /// current MODE is the MODE of all of them.
  void allow_indirect_branches(const std::set<std::int64_t>& targets);
  /// Goes on at an address (i64), in this program or another.
  void branch_to(llvm::Value* address);
  /// A branch that may close a loop follows: every so often, the wavefront looks whether its turn is over.
  void count_loop();
  /// The kernel may wait.
  void may_wait_for(WaitsFor what) { waits_for_ = std::max(waits_for_, what); }
  /// The kernel may ask where it is: WaveState::group is that of each wavefront.
  void asks_for_place() { asks_for_place_ = true; }
  [[nodiscard]] WaitsFor waits_for() const { return waits_for_; }

  /// Registers stay in memory, and instructions that have templates become calls of `calls`' functions.
  void call_templates(TemplateCalls& calls, unsigned vgprs, unsigned agprs);
  /// Emits a function that executes one instruction, which is at `offset` (i64), and whose registers are there.
  void emit_alone(const Instruction& instruction, RegisterMemory registers, llvm::Value* offset);
  /// Where a register is in memory.
  llvm::Value* place_of_register(bool is_vector, unsigned number);

  /// Emits one instruction through its handler and checks that every modifier was read.
  void emit(const Instruction& instruction);
  /// Execution begins at `start`.
  void begin(std::int64_t start);
  /// Ends the entry block, once everything has been emitted.
  void finish();

private:
  /// An instruction, and the knowledge on the paths that lead there.
  struct BlockKey {
    std::int64_t offset;
    std::uint32_t mode;
    bool all_lanes;
    friend auto operator<=>(const BlockKey&, const BlockKey&) = default;  // NOLINT(modernize-use-nullptr)
  };
  llvm::BasicBlock* block_at(const BlockKey& key);
  void emit_by_handler(const Instruction& decoded);
  void emit_halves(const Instruction& instruction);
  llvm::Value* state_address(std::size_t offset);
  template <class Move>
  void for_each_register(Move&& move);
  void finish_indirect_branches();
  void run_following_waves();

  const HandlerTable& handlers_;
  TemplateCalls* templates_ = nullptr;
  std::map<BlockKey, llvm::BasicBlock*> blocks_;
  std::vector<BlockKey> pending_blocks_;
  std::map<std::int64_t, llvm::BasicBlock*> indirect_targets_;
  llvm::BasicBlock* start_ = nullptr;
  llvm::BasicBlock* indirect_ = nullptr;  ///< where indirect branches meet, if there are any
  llvm::Value* target_slot_ = nullptr;    ///< the address that they go to
  llvm::Value* loops_slot_ = nullptr;     ///< branches back until the next look at the clock
  WaitsFor waits_for_ = WaitsFor::nothing;
  bool asks_for_place_ = false;
};

}  // namespace softgpu::compute
