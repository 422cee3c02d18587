#include "softgpu/compute/instruction_set/register_halves.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace softgpu::compute {
namespace {

/// Of a register's number, the bit that tells the half.
constexpr unsigned half_bit = 128;

bool is_vop1(std::uint32_t dword) { return dword >> 25 == 0x3f; }
bool is_vopc(std::uint32_t dword) { return dword >> 25 == 0x3e; }
bool is_vop3(std::uint32_t dword) { return dword >> 26 == 0x35; }
/// VOP1, VOP2 or VOPC.
bool is_short(std::uint32_t dword) { return dword >> 31 == 0; }

/// VOP3 with a scalar destination where others have op_sel: carries, v_div_scale, v_mad_u64_u32 and v_mad_i64_i32.
bool has_scalar_destination(std::uint32_t vop3) {
  const std::uint32_t opcode = vop3 >> 16 & 0x3ff;
  return (opcode >= 0x120 && opcode <= 0x122) || (opcode >= 0x2fc && opcode <= 0x302);
}

/// Whether operand `n` of a short instruction has 16 bits.
bool is_half(std::string_view mnemonic, std::size_t n) {
  constexpr std::array<std::string_view, 4> ends = {"_f16", "_i16", "_u16", "_b16"};
  const bool is_destination = n == 0;
  if (mnemonic == "v_cvt_f16_f32" || mnemonic == "v_sat_pk_u8_i16") return is_destination;
  if (std::ranges::none_of(ends, [&](std::string_view end) { return mnemonic.ends_with(end); })) return false;
  if (mnemonic.starts_with("v_pk_") || mnemonic.starts_with("v_dot")) return false;  // pairs of halves
  const bool widens = mnemonic == "v_cvt_f32_f16" || mnemonic == "v_cvt_i32_i16" || mnemonic == "v_cvt_u32_u16";
  return !widens || !is_destination;
}

}  // namespace

void name_halves(Instruction& instruction) {
  if (instruction.operands.empty()) return;
  const std::size_t sources = std::min<std::size_t>(instruction.operands.size() - 1, 3);
  const std::uint32_t dword = instruction.first_dword;
  std::vector<bool> upper(sources + 1);  // the destination's last
  if (is_vop3(dword) && !has_scalar_destination(dword)) {
    // LLVM may have written it already, of v_fmac_f16 with a place for the destination as a source.
    std::erase_if(instruction.modifiers, [](const Modifier& each) { return each.name == "op_sel"; });
    for (std::size_t n = 0; n < sources; ++n) upper[n] = (dword >> (11 + n) & 1) != 0;
    upper[sources] = (dword >> 14 & 1) != 0;
  } else if (is_short(dword)) {
    for (std::size_t n = 0; n <= sources; ++n) {
      Operand& operand = instruction.operands[n];
      if (!operand.is_vector()) continue;
      const bool is_hidden = operand.index >= half_bit && is_half(instruction.mnemonic, n);
      if (is_hidden) operand.index -= half_bit;
      upper[n == 0 ? sources : n - 1] = operand.is_upper_half || is_hidden;
    }
  }
  if (std::ranges::none_of(upper, std::identity())) return;
  std::string text = "[";
  for (const bool each : upper) text.append(text.size() > 1 ? "," : "").append(each ? "1" : "0");
  instruction.modifiers.push_back({.name = "op_sel", .text = text + "]"});
}

std::optional<std::string_view> replace_unknown_move(std::span<std::uint8_t> code) {
  struct Move {
    std::uint32_t opcode;  // of VOP1
    std::string_view name;
  };
  constexpr std::array<Move, 2> moves = {{{0x1c, "v_mov_b16"}, {0x66, "v_swap_b16"}}};
  constexpr std::uint32_t v_not_b16 = 0x69;
  std::uint32_t dword = 0;
  if (code.size() < sizeof dword) return std::nullopt;
  std::memcpy(&dword, code.data(), sizeof dword);
  for (const auto& [opcode, name] : moves) {
    if (is_vop1(dword) && (dword >> 9 & 0xff) == opcode)
      dword ^= (opcode ^ v_not_b16) << 9;
    else if (is_vop3(dword) && (dword >> 16 & 0x3ff) == 0x180 + opcode)
      dword ^= (opcode ^ v_not_b16) << 16;
    else
      continue;
    std::memcpy(code.data(), &dword, sizeof dword);
    return name;
  }
  return std::nullopt;
}

HighRegisters::HighRegisters(std::span<std::uint8_t> code) {
  std::array<std::uint32_t, 2> dwords = {};
  if (code.size() < sizeof dwords) return;
  std::memcpy(dwords.data(), code.data(), sizeof dwords);
  if (!is_short(dwords[0])) return;
  const auto take = [&](std::size_t dword, unsigned bit) {
    is_high_.push_back((dwords[dword] >> bit & 1) != 0);
    dwords[dword] &= ~(1U << bit);
  };
  if (!is_vopc(dwords[0])) take(0, 24);
  const std::uint32_t source = dwords[0] & 0x1ff;
  constexpr std::uint32_t first_vgpr = 0x100;
  constexpr std::array<std::uint32_t, 3> dpp = {0xe9, 0xea, 0xfa};  // the source is in the second dword
  if (source >= first_vgpr)
    take(0, 7);
  else if (std::ranges::find(dpp, source) != dpp.end())
    take(1, 7);
  if (!is_vop1(dwords[0])) take(0, 16);
  std::memcpy(code.data(), dwords.data(), sizeof dwords);
}

bool HighRegisters::are_there() const { return std::ranges::find(is_high_, true) != is_high_.end(); }

bool HighRegisters::restore(Instruction& instruction) const {
  std::size_t n = 0;
  for (Operand& operand : instruction.operands) {
    if (!operand.is_vector()) continue;
    if (n == is_high_.size()) return false;
    if (is_high_[n++]) operand.index += half_bit;
    if (operand.index + operand.dwords > first_agpr) return false;
  }
  return n == is_high_.size();
}

}  // namespace softgpu::compute
