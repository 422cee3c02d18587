#include "softgpu/compute/program/waiting_loops.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace softgpu::compute {
namespace {

bool looks_at_lds(std::string_view mnemonic) {
  return mnemonic.starts_with("ds_") &&
         (mnemonic.starts_with("ds_read") || mnemonic.find("_rtn_") != std::string_view::npos);
}

/// Instructions of a loop that compares what it read. A loop that computes, even a sum, has other vector instructions.
bool only_compares(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 7> beginnings = {
      "s_", "v_cmp", "v_mov_b32", "v_and_b32", "v_readfirstlane", "buffer_gl", "global_inv"};
  return std::ranges::any_of(beginnings, [&](std::string_view beginning) { return mnemonic.starts_with(beginning); });
}

}  // namespace

std::set<std::int64_t> waiting_loops(const Program& program) {
  std::set<std::int64_t> result;
  for (const auto& [offset, instruction] : program.instructions) {
    const bool branches = instruction.mnemonic == "s_branch" || instruction.mnemonic.starts_with("s_cbranch_");
    if (!branches || instruction.operands.size() != 1) continue;
    const std::int64_t target = instruction.branch_target(instruction.operands[0]);
    if (target > offset) continue;
    const auto begin = program.instructions.lower_bound(target);
    const auto end = program.instructions.find(offset);
    const auto looks = [](const auto& item) { return looks_at_lds(item.second.mnemonic); };
    const auto waits = [&](const auto& item) { return looks(item) || only_compares(item.second.mnemonic); };
    if (std::any_of(begin, end, looks) && std::all_of(begin, end, waits)) result.insert(offset);
  }
  return result;
}

}  // namespace softgpu::compute
