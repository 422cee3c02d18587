#include "softgpu/compute/host_code/translator.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/emit/rounding.hpp"
#include "softgpu/compute/emit/template_calls.hpp"
#include "softgpu/compute/host_code/code_lines.hpp"
#include "softgpu/compute/instruction_set/mode_register.hpp"
#include "softgpu/compute/instructions/families.hpp"
#include "softgpu/compute/profile/emit_counting.hpp"
#include "softgpu/compute/program/lane_sum_flow.hpp"
#include "softgpu/compute/program/waiting_loops.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"

namespace softgpu::compute {

namespace {

/// No instruction names the elements of an array that is accessed by indices alone: all allocated registers count, too.
unsigned vgpr_limit(const Program& program) {
  unsigned limit = std::max(1U, program.target.vector_registers);
  const auto look_at = [&](const Instruction& instruction) {
    for (const Operand& operand : instruction.operands)
      if (operand.is_vector() && operand.index < first_agpr) limit = std::max(limit, operand.index + operand.dwords);
  };
  for (const auto& [offset, instruction] : program.instructions) {
    look_at(instruction);
    for (const Instruction& half : instruction.halves) look_at(half);
  }
  return limit;
}

unsigned agpr_limit(const Program& program) {
  unsigned limit = 0;
  const auto look_at = [&](const Instruction& instruction) {
    for (const Operand& operand : instruction.operands)
      if (operand.is_vector() && operand.index >= first_agpr)
        limit = std::max(limit, operand.index - first_agpr + operand.dwords);
  };
  for (const auto& [offset, instruction] : program.instructions) look_at(instruction);
  return limit;
}

/// A longer program is translated for any EXEC only: LLVM's time grows faster than the code.
constexpr std::size_t most_instructions_twice = 2000;

/// The code is translated for each mode that it is reached in.
constexpr std::size_t most_modes = 64;

}  // namespace

Translation translate(const Program& program, const WaveStart& wave_start, const EmitOptions& options, const char* name,
                      llvm::Module& module, TemplateCalls* templates) {
  const std::uint32_t float_mode = wave_start.float_mode;
  llvm::LLVMContext& context = module.getContext();
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(context), {llvm::PointerType::getUnqual(context)}, false);
  llvm::Function* function = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module);
  set_attributes(*function);
  if (has_directed_rounding(program, float_mode)) function->addFnAttr(llvm::Attribute::StrictFP);

  Emitter emitter(*function, program.target, handlers_of(*program.target.architecture), float_mode, options);
  emitter.indexing.limit = vgpr_limit(program);
  emitter.known_mode.set_possible(modes_of_constants(program, float_mode));
  if (templates != nullptr) emitter.call_templates(*templates, emitter.indexing.limit, agpr_limit(program));
  if (templates != nullptr || program.instructions.size() > most_instructions_twice) emitter.exec_knowledge.ignore();
  if (program.branches_indirectly()) emitter.allow_indirect_branches(program.indirect_targets);
  const unsigned ids_in_rows = wave_start.has_ids_in_rows ? program.target.architecture->work_item_id_registers() : 0;
  if (auto sums = templates == nullptr ? follow_lane_sums(program, ids_in_rows) : std::nullopt;
      sums && !may_skip(program, emitter.known_mode.possible()))
    emitter.address_sums.use(std::move(*sums), ids_in_rows);
  std::optional<CodeLines> lines;
  if (options.lines) lines.emplace(*function, program);
  emitter.begin(program.start);
  const std::set<std::int64_t> waiting = waiting_loops(program);
  std::set<std::uint32_t> modes;
  while (const auto start = emitter.enter_next_block()) {
    modes.insert(emitter.known_mode.current());
    if (modes.size() > most_modes) throw UnsupportedInstruction{*start, "MODE may have too many values"};
    std::int64_t offset = *start;
    while (emitter.ir.GetInsertBlock()->getTerminator() == nullptr) {
      if (offset != *start && program.leaders.contains(offset)) {
        emitter.ir.CreateBr(emitter.block_at(offset));
        break;
      }
      const Instruction& instruction = program.instructions.at(offset);
      if (lines) lines->begin_instruction(emitter.ir, offset);
      if (waiting.contains(offset)) {
        emitter.may_wait_for(WaitsFor::work_group);
        emitter.call(reinterpret_cast<const void*>(&runtime::poll), emitter.ir.getVoidTy(), {emitter.state()});
      } else if (may_close_a_loop(instruction)) {
        emitter.count_loop();
      }
      profile::count_execution(emitter, instruction);
      emitter.emit(instruction);
      offset += instruction.size;
    }
  }
  emitter.finish();
  if (lines) lines->finish();
  return {emitter.waits_for()};
}

}  // namespace softgpu::compute
