#include "softgpu/compute/program/exec_bounds.hpp"

#include <algorithm>
#include <string_view>

#include "softgpu/compute/program/written_registers.hpp"

namespace softgpu::compute {
namespace {

enum class Logic : std::uint8_t { none, move, both, either, differ, first_without_second, second_without_first };

/// What a scalar instruction does with masks: `name` is without "s_" and what follows the operation.
Logic operation_of(std::string_view name) {
  if (name == "mov") return Logic::move;
  if (name == "and") return Logic::both;
  if (name == "or") return Logic::either;
  if (name == "xor") return Logic::differ;
  if (name == "andn2") return Logic::first_without_second;
  if (name == "andn1") return Logic::second_without_first;
  return Logic::none;
}

/// s_and_saveexec_b64 is "and", "saveexec" and 2 dwords.
struct Parts {
  std::string_view name;
  bool saves = false;   ///< EXEC is the second source, and is written; the destination is what EXEC was
  bool writes = false;  ///< the same, but the destination is what EXEC becomes
  unsigned dwords = 0;
};

Parts parts_of(std::string_view mnemonic) {
  Parts parts;
  if (!mnemonic.starts_with("s_")) return parts;
  mnemonic.remove_prefix(2);
  const auto take_end = [&](std::string_view end) {
    const bool has = mnemonic.ends_with(end);
    if (has) mnemonic.remove_suffix(end.size());
    return has;
  };
  if (take_end("_b32")) parts.dwords = 1;
  if (take_end("_b64")) parts.dwords = 2;
  parts.saves = take_end("_saveexec");
  parts.writes = take_end("_wrexec");
  parts.name = mnemonic;
  return parts;
}

}  // namespace

bool ExecBounds::is_mask(const Operand& operand) const {
  return operand.is_scalar() && operand.dwords == mask_dwords_ && operand.index % mask_dwords_ == 0;
}

ExecBounds::Mask ExecBounds::mask(const Operand& operand) const {
  if (operand.kind == Operand::Kind::integer && operand.value == 0) return {Mask::Kind::within, empty};
  if (!is_mask(operand)) return {};
  if (operand.index == scalar_register::exec) return {Mask::Kind::equal, top_};
  return operand.index < masks_.size() ? masks_.at(operand.index) : Mask{};
}

/// The mask that a scalar instruction makes, and for the forms that save EXEC, what EXEC becomes.
ExecBounds::Mask ExecBounds::result(const Instruction& instruction) const {
  const Parts parts = parts_of(instruction.mnemonic);
  const Logic operation = operation_of(parts.name);
  const bool combines_exec = parts.saves || parts.writes;
  const std::size_t sources = operation == Logic::move || combines_exec ? 1 : 2;
  if (parts.dwords != mask_dwords_ || operation == Logic::none || instruction.operands.size() != 1 + sources) return {};
  const Mask a = mask(instruction.operands[1]);
  if (operation == Logic::move) return a;
  const Mask b = combines_exec ? Mask{Mask::Kind::equal, top_} : mask(instruction.operands[2]);
  switch (operation) {
  case Logic::both:
    if (!a.is_known()) return b.is_known() ? Mask{Mask::Kind::within, b.level} : Mask{};
    if (!b.is_known()) return {Mask::Kind::within, a.level};
    return {Mask::Kind::within, std::max(a.level, b.level)};
  case Logic::either:
    if (!a.is_known() || !b.is_known()) return {};
    return a.level < b.level || (a.level == b.level && a.kind == Mask::Kind::equal) ? a : b;
  case Logic::differ:
    if (!a.is_known() || !b.is_known()) return {};
    return {Mask::Kind::within, std::min(a.level, b.level)};
  case Logic::first_without_second:
    return a.is_known() ? Mask{Mask::Kind::within, a.level} : Mask{};
  case Logic::second_without_first:
    return b.is_known() ? Mask{Mask::Kind::within, b.level} : Mask{};
  case Logic::none:
  case Logic::move:
    break;
  }
  return {};
}

void ExecBounds::follow(const Instruction& instruction) {
  kept_ = static_cast<std::uint8_t>(top_ + 1);
  const WrittenRegisters written(instruction);
  if (!written.exec() && std::ranges::all_of(written.scalars(), [](const auto& range) { return range.count == 0; }))
    return;
  const Parts parts = parts_of(instruction.mnemonic);
  const bool is_comparison = instruction.mnemonic.starts_with("v_cmp");
  Mask made = result(instruction);
  if (is_comparison) made = {Mask::Kind::within, top_};  // 0 where EXEC is

  for (const auto& range : written.scalars())
    for (unsigned n = 0; n < range.count; ++n)
      if (const unsigned index = (range.first + n) / mask_dwords_ * mask_dwords_; index < masks_.size())
        masks_.at(index) = {};
  if (instruction.operands.empty()) return forget();
  const Operand& destination = instruction.operands[0];
  const bool is_kept = is_mask(destination) && destination.index < masks_.size();
  if (is_kept && !parts.writes) masks_.at(destination.index) = parts.saves ? Mask{Mask::Kind::equal, top_} : made;

  if (!written.exec()) return;
  const bool is_whole = is_mask(destination) && destination.index == scalar_register::exec;
  set_exec(parts.saves || parts.writes || is_comparison || is_whole ? made : Mask{});
}

void ExecBounds::set_exec(Mask mask) {
  if (!mask.is_known()) return forget();
  const Level level = std::min(mask.level, top_);
  for (Mask& other : masks_)
    if (other.is_known() && other.level > level && other.level != empty) other = {Mask::Kind::within, level};
  top_ = level;
  kept_ = static_cast<std::uint8_t>(level + 1);
  if (mask.kind != Mask::Kind::equal) narrow();
}

/// EXEC becomes a part of itself. A level that no register refers to can become so, too.
void ExecBounds::narrow() {
  const auto refers = [&](const Mask& mask) { return mask.is_known() && mask.level == top_; };
  if (std::ranges::none_of(masks_, refers)) return;
  if (top_ < deepest) {
    ++top_;
    return;
  }
  for (Mask& mask : masks_)
    if (refers(mask)) mask = mask.kind == Mask::Kind::within ? Mask{Mask::Kind::within, deepest - 1} : Mask{};
}

void ExecBounds::forget() {
  masks_ = {};
  top_ = 0;
  kept_ = 0;
}

bool ExecBounds::join(const ExecBounds& other) {
  bool is_less = other.top_ > top_;  // the levels between are EXEC, too
  top_ = std::max(top_, other.top_);
  for (std::size_t i = 0; i < masks_.size(); ++i) {
    const Mask before = masks_.at(i);
    const Mask& its = other.masks_.at(i);
    if (before == its || !before.is_known()) continue;
    masks_.at(i) = its.is_known() ? Mask{Mask::Kind::within, std::min(before.level, its.level)} : Mask{};
    is_less |= masks_.at(i) != before;
  }
  return is_less;
}

}  // namespace softgpu::compute
