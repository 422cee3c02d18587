#include "softgpu/compute/program/written_registers.hpp"

#include <algorithm>
#include <string_view>

namespace softgpu::compute {
namespace {

bool is_exec(unsigned index) { return (index & ~1U) == scalar_register::exec; }

/// The first operand is a source. ds_cmpstore_rtn has a result, and ds_cmpstore an address that keeps its value.
bool only_reads(std::string_view mnemonic) {
  const bool stores = mnemonic.find("store_") != std::string_view::npos && !mnemonic.starts_with("ds_cmpstore");
  return stores || mnemonic.starts_with("ds_write");
}

/// The second operand is a mask that is written.
bool has_second_result(std::string_view mnemonic) {
  return mnemonic.find("_co_") != std::string_view::npos || mnemonic.starts_with("v_div_scale_") ||
         mnemonic.starts_with("v_mad_u64_") || mnemonic.starts_with("v_mad_i64_");
}

/// The second operand is a register that is written: v_swap_b32, v_permlane16_swap_b32.
bool swaps(std::string_view mnemonic) {
  return mnemonic.starts_with("v_") && (mnemonic.ends_with("swap_b32") || mnemonic.ends_with("swap_b16"));
}

bool writes_exec_besides(std::string_view mnemonic) {
  return mnemonic.starts_with("v_cmpx_") || mnemonic.find("_saveexec_") != std::string_view::npos ||
         mnemonic.find("_wrexec_") != std::string_view::npos;
}

/// Forks and joins keep masks and addresses in scalar registers from s0 on.
bool writes_anything(std::string_view mnemonic) { return mnemonic.ends_with("_fork") || mnemonic == "s_cbranch_join"; }

}  // namespace

WrittenRegisters::WrittenRegisters(const Instruction& instruction) {
  const auto& operands = instruction.operands;
  if (writes_anything(instruction.mnemonic)) {
    scalars_[0] = {0, scalar_register::count};
    exec_ = true;
    return;
  }
  exec_ = writes_exec_besides(instruction.mnemonic);
  if (operands.empty() || only_reads(instruction.mnemonic)) return;
  add(operands[0]);
  if (operands.size() < 2) return;
  if (swaps(instruction.mnemonic) || has_second_result(instruction.mnemonic)) add(operands[1]);
}

void WrittenRegisters::add(const Operand& operand) {
  if (!operand.is_vector() && !operand.is_scalar()) return;
  auto& ranges = operand.is_vector() ? vectors_ : scalars_;
  auto free = std::ranges::find(ranges, 0U, &Range::count);
  *free = {operand.index, operand.dwords};
  if (operand.is_scalar() && is_exec(operand.index)) exec_ = true;
}

bool WrittenRegisters::has_vector(unsigned index) const {
  return std::ranges::any_of(vectors_, [&](const Range& range) { return range.contains(index); });
}

bool WrittenRegisters::has_scalar(unsigned index) const {
  if (is_exec(index)) return exec_;
  return std::ranges::any_of(scalars_, [&](const Range& range) { return range.contains(index); });
}

}  // namespace softgpu::compute
