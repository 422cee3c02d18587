#include "softgpu/compute/instruction_set/disassembler_quirks.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "softgpu/compute/instruction_set/decoder.hpp"
#include "softgpu/compute/instruction_set/register_halves.hpp"

namespace softgpu::compute {
namespace {

/// Whether a selector of an SDWA instruction is reserved (CDNA2 ISA manual, "VOP_SDWA"): LLVM's disassembler would end
/// the process. A selector of the second source of a VOP1 instruction, which has no second source, is refused by LLVM
/// itself.
bool has_reserved_selector(const std::array<std::uint32_t, 2>& dwords) {
  constexpr std::uint32_t sdwa = 0xf9;
  if (dwords[0] >> 31 != 0 || (dwords[0] & 0x1ff) != sdwa) return false;
  constexpr std::uint32_t vopc = 0x3e;  // its destination is a mask, and has no selector
  const auto is_reserved = [&](unsigned bit) { return (dwords[1] >> bit & 7) == 7; };
  const bool is_kept_unknown = (dwords[1] >> 11 & 3) == 3;  // the use of the destination's other bits
  return is_reserved(16) || is_reserved(24) || (dwords[0] >> 25 != vopc && (is_reserved(8) || is_kept_unknown));
}

/// Whether an instruction of 64 bits names a literal. On GFX9 there is none (CDNA2 ISA manual, "VOP3" and "MUBUF"), and
/// the disassemblers of LLVM 21 and 22 crash.
bool has_literal_in_64_bits(const std::array<std::uint32_t, 2>& dwords) {
  constexpr std::uint32_t vop3 = 0x34, mubuf = 0x38, mtbuf = 0x3a;
  const std::uint32_t encoding = dwords[0] >> 26;
  if (encoding == mubuf || encoding == mtbuf) return dwords[1] >> 24 == 0xff;
  const auto is_literal = [&](unsigned bit) { return (dwords[1] >> bit & 0x1ff) == 0xff; };
  return encoding == vop3 && (is_literal(0) || is_literal(9) || is_literal(18));
}

/// LLVM 15 takes some of gfx942's matrix instructions for gfx908's, whose sums are always in accumulation registers:
/// the bit ACC_CD says where they are.
void correct_sums(Instruction& instruction) {
  constexpr std::uint32_t acc_cd = 1U << 15;
  const bool is_known_later = instruction.mnemonic.starts_with("v_mfma_scale_");  // has the bit in another dword
  if (!instruction.mnemonic.starts_with("v_mfma_") || is_known_later || (instruction.first_dword & acc_cd) != 0) return;
  for (const std::size_t n : {0U, 3U}) {
    if (n >= instruction.operands.size()) return;
    Operand& sums = instruction.operands[n];
    if (sums.is_vector() && sums.index >= first_agpr) sums.index -= first_agpr;
  }
}

/// LLVM before 18 takes the inline floating-point constants of 16-bit integer operands for halves, and writes them in
/// hexadecimal, like literals. An instruction without a dword for a literal has no literal.
void correct_inline_numbers(Instruction& instruction) {
  if (!instruction.mnemonic.starts_with("v_")) return;
  const std::uint32_t without_literal = instruction.first_dword >> 31 == 0 ? 4 : 8;  // VOP1, VOP2, VOPC; VOP3, VOP3P
  const bool never_has_one = instruction.encoding == Encoding::sdwa || instruction.encoding == Encoding::dpp;
  if (instruction.size > without_literal && !never_has_one) return;
  static constexpr std::pair<std::int64_t, double> numbers[] = {{0x3800, 0.5}, {0xb800, -0.5}, {0x3c00, 1},
                                                                {0xbc00, -1},  {0x4000, 2},    {0xc000, -2},
                                                                {0x4400, 4},   {0xc400, -4},   {0x3118, 0.15915494}};
  for (Operand& operand : instruction.operands) {
    if (operand.kind != Operand::Kind::integer || !operand.is_literal) continue;
    for (const auto& [half, number] : numbers) {
      if (operand.value != half) continue;
      operand.kind = Operand::Kind::real;
      operand.is_literal = false;
      operand.real = number;
    }
  }
}

/// Literals have 32 bits. Instructions of signed 64-bit integers extend the sign of one; others put zeros above it
/// (LLVM, pull request 70274).
void extend_literals(Instruction& instruction) {
  if (instruction.mnemonic.find("_i64") == std::string::npos) return;
  for (Operand& operand : instruction.operands)
    if (operand.is_literal) operand.value = static_cast<std::int32_t>(operand.value);
}

/// LLVM 15 prints RDNA3's comparisons with DPP without a suffix.
void name_dpp(Instruction& instruction) {
  constexpr std::uint32_t vopc = 0x3e, dpp16 = 0xfa, dpp8 = 0xe9, dpp8_of_inactive_lanes = 0xea;
  const std::uint32_t source = instruction.first_dword & 0x1ff;
  const bool has_dpp = source == dpp16 || source == dpp8 || source == dpp8_of_inactive_lanes;
  if (instruction.first_dword >> 25 == vopc && has_dpp) instruction.encoding = Encoding::dpp;
}

/// v_cmpx does not name EXEC where that is its only destination.
void name_exec(Instruction& instruction, std::uint32_t wavefront_size) {
  if (!instruction.mnemonic.starts_with("v_cmpx_")) return;
  const Instruction named = parse_instruction(wavefront_size == 32 ? "v_cmpx exec_lo" : "v_cmpx exec");
  instruction.operands.insert(instruction.operands.begin(), named.operands.front());
}

/// How many registers of GFX9's image instructions have addresses is not in their encoding: the image's descriptor
/// tells. LLVM names one; four are the most.
void name_addresses(Instruction& instruction) {
  constexpr unsigned most = 4, in_a_file = 256;
  if (!instruction.mnemonic.starts_with("image_") || instruction.operands.size() < 2) return;
  Operand& addresses = instruction.operands[1];
  addresses.dwords = std::min(most, in_a_file - addresses.index % in_a_file);
}

/// Registers of the hardware have WAVE in their names from LLVM 20 on, on RDNA4.
void name_hardware_register(Instruction& instruction) {
  constexpr std::string_view with_wave = "hwreg(HW_REG_WAVE_";
  for (Operand& operand : instruction.operands)
    if (operand.text.starts_with(with_wave)) operand.text.replace(0, with_wave.size(), "hwreg(HW_REG_");
}

/// The trap handler's temporaries that RDNA4 has the work-group's ids in; the other ones stay symbols.
void name_group_ids(Instruction& instruction) {
  for (Operand& operand : instruction.operands) {
    if (operand.text != "ttmp7" && operand.text != "ttmp9") continue;
    operand.kind = Operand::Kind::scalar;
    operand.index = scalar_register::ttmp6 + (operand.text == "ttmp7" ? 1 : 3);
  }
  for (Instruction& half : instruction.halves) name_group_ids(half);
}

}  // namespace

bool ends_disassembler(std::span<const std::uint8_t, 8> bytes, const Target& target) {
  std::array<std::uint32_t, 2> dwords;
  std::memcpy(dwords.data(), bytes.data(), sizeof dwords);
  return has_reserved_selector(dwords) || (!target.architecture->is_rdna() && has_literal_in_64_bits(dwords));
}

bool make_cmp_of_cmpx(std::span<std::uint8_t> code) {
  std::uint32_t dword = 0;
  if (code.size() < sizeof dword) return false;
  std::memcpy(&dword, code.data(), sizeof dword);
  constexpr std::uint32_t vop3 = 0x34, v_cmp_class_f32 = 0x10, first_comparison = 0x20, first_of_vop2 = 0x100;
  const std::uint32_t opcode = dword >> 16 & 0x3ff;
  if (dword >> 26 != vop3 || opcode < v_cmp_class_f32 || opcode >= first_of_vop2) return false;
  const std::uint32_t cmpx = opcode < first_comparison ? 0x01 : 0x10;
  if ((opcode & cmpx) == 0) return false;
  dword &= ~(cmpx << 16);
  std::memcpy(code.data(), &dword, sizeof dword);
  return true;
}

void correct(Instruction& instruction, const Target& target) {
  correct_inline_numbers(instruction);
  extend_literals(instruction);
  if (target.architecture->chooses_matrix_sums) correct_sums(instruction);
  if (target.architecture->compares_write_only_exec) name_exec(instruction, target.wavefront_size);
  if (target.architecture->names_register_halves) {
    name_dpp(instruction);
    name_halves(instruction);
  }
  if (target.architecture->has_group_ids_in_ttmps) name_group_ids(instruction);
  if (!target.architecture->is_rdna()) name_addresses(instruction);
  name_hardware_register(instruction);
}

}  // namespace softgpu::compute
