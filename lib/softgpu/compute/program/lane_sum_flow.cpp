#include "softgpu/compute/program/lane_sum_flow.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace softgpu::compute {
namespace {

bool defies_following(const Instruction& instruction) {
  constexpr std::array<std::string_view, 5> beginnings = {"s_set_gpr_idx", "s_movrel", "v_movrel", "s_setvskip",
                                                          "s_subvector"};
  return std::ranges::any_of(beginnings,
                             [&](std::string_view beginning) { return instruction.mnemonic.starts_with(beginning); });
}

/// Goes on in code for the new value of MODE, which the emitter enters as it does a block of which nothing is known.
bool may_change_code(const Instruction& instruction) { return instruction.mnemonic == "s_setreg_b32"; }

/// From the beginning of a block to its end. Returns where it goes on.
std::vector<std::int64_t> follow_block(const Program& program, std::int64_t begin, LaneSums& sums) {
  auto at = program.instructions.find(begin);
  while (at != program.instructions.end()) {
    const Instruction& instruction = at->second;
    sums.follow(instruction);
    if (may_change_code(instruction)) sums = LaneSums(program.target.wavefront_size);
    std::vector<std::int64_t> next = successors(instruction);
    const bool goes_on = next.size() == 1 && next[0] == instruction.offset + instruction.size;
    if (!goes_on || program.leaders.contains(next[0])) return next;
    at = program.instructions.find(next[0]);
  }
  return {};
}

}  // namespace

std::optional<LaneSumsOfBlocks> follow_lane_sums(const Program& program, unsigned ids_in_rows) {
  for (const auto& [offset, instruction] : program.instructions)
    if (defies_following(instruction)) return std::nullopt;
  if (program.branches_indirectly()) return LaneSumsOfBlocks{};

  LaneSumsOfBlocks blocks;
  LaneSums at_start(program.target.wavefront_size);
  if (ids_in_rows != 0) at_start.begin_with_ids(ids_in_rows);
  blocks.emplace(program.start, at_start);
  std::set<std::int64_t> pending = {program.start};
  // A path finds out at most a few times that less is known than before.
  std::size_t visits = 64 * (program.leaders.size() + 1);
  while (!pending.empty()) {
    if (visits-- == 0) return LaneSumsOfBlocks{};
    const std::int64_t begin = *pending.begin();
    pending.erase(pending.begin());
    LaneSums sums = blocks.at(begin);
    const auto next = follow_block(program, begin, sums);
    sums.forget_begun();
    for (const std::int64_t offset : next) {
      const auto [found, is_new] = blocks.try_emplace(offset, sums);
      if (is_new || found->second.join(sums)) pending.insert(offset);
    }
  }
  return blocks;
}

}  // namespace softgpu::compute
