#include "instruction_table.hpp"

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <set>
#include <string_view>
#include <variant>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "assembler.hpp"
#include "instruction_formats.hpp"
#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/host_code/translator.hpp"
#include "softgpu/compute/instruction_set/decoder.hpp"
#include "softgpu/compute/program/program.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

using Words = std::array<std::uint32_t, 3>;

/// s_endpgm.
std::uint32_t end_program() { return tests_rdna3_or_later() ? 0xbfb00000 : 0xbf810000; }

const char* suffix_of(compute::Encoding encoding) {
  switch (encoding) {
  case compute::Encoding::e32:
    return "_e32";
  case compute::Encoding::e64:
    return "_e64";
  case compute::Encoding::sdwa:
    return "_sdwa";
  case compute::Encoding::dpp:
    return "_dpp";
  case compute::Encoding::plain:
    break;
  }
  return "";
}

std::vector<std::byte> code_of(const Words& words) {
  std::vector<std::byte> code(sizeof words);
  std::memcpy(code.data(), words.data(), sizeof words);
  return code;
}

Words with_opcode(const InstructionFormat& format, std::uint32_t opcode) {
  Words words = format.dwords;
  words[0] |= opcode << format.opcode_shift;
  return words;
}

/// The instruction with some of the bytes of its operands at random: many a modifier must be 0.
Words with_random_operands(const InstructionFormat& format, std::uint32_t opcode, std::mt19937& random) {
  Words words = format.dwords;
  const std::uint32_t prefix_and_opcode = ~((1U << format.opcode_shift) - 1);
  for (std::size_t n = 0; n < words.size(); ++n) {
    std::uint32_t chosen = 0;
    for (unsigned byte = 0; byte < 32; byte += 8)
      if (random() % 2 != 0) chosen |= 0xffU << byte;
    if (n == 0) chosen &= ~prefix_and_opcode;
    words[n] = (words[n] & ~chosen) | (static_cast<std::uint32_t>(random()) & chosen);
  }
  words[0] = (words[0] & ~format.opcode_mask()) | opcode << format.opcode_shift;
  return words;
}

/// As the architecture's assembler names it, without the encoding's suffix: the decoded mnemonic is gfx90a's.
std::string own_mnemonic(const compute::Instruction& instruction, bool second_half) {
  std::string_view text = instruction.text;
  if (second_half) text.remove_prefix(text.find("v_dual_", text.find("::")));
  std::string mnemonic(text.substr(0, text.find_first_of(" \t")));
  for (const std::string_view suffix : {"_dpp", "_sdwa", "_e32", "_e64"})
    if (mnemonic.ends_with(suffix)) mnemonic.resize(mnemonic.size() - suffix.size());
  return mnemonic;
}

std::string form_of(const compute::Instruction& instruction, const std::string& mnemonic) {
  return mnemonic + suffix_of(instruction.encoding);
}

std::map<std::string, TableEntry> make_table() {
  std::map<std::string, TableEntry> table;
  const compute::Disassembler disassembler(tested_target());
  std::set<std::string> seen;
  for (const InstructionFormat& format : instruction_formats()) {
    for (std::uint32_t opcode = 0; opcode < format.opcodes(); ++opcode) {
      std::vector<std::byte> code = code_of(with_opcode(format, opcode));
      const auto decoded = disassembler.decode(code, 0);
      if (!decoded) continue;
      const std::string mnemonic = own_mnemonic(*decoded, format.names_second_half);
      const std::string form = form_of(*decoded, mnemonic);
      if (format.is_other_encoding(opcode) || !mnemonic.starts_with(format.begin) || seen.contains(form) ||
          !assembles(decoded->text))
        continue;
      seen.insert(form);
      code.resize(decoded->size);
      // VOP3 holds the long forms of the others, which name the instruction's format if they come first.
      TableEntry& entry = table.try_emplace(mnemonic, TableEntry{format.name, {}}).first->second;
      entry.samples.push_back({form, decoded->text, std::move(code)});
    }
  }
  return table;
}

}  // namespace

const std::map<std::string, TableEntry>& instruction_table() {
  static const std::map<std::string, TableEntry> table = make_table();
  return table;
}

std::set<std::string> missing_forms() {
  constexpr unsigned samples = 16;  // a format, of which an encoding has several
  std::set<std::string> known;
  for (const auto& [mnemonic, entry] : instruction_table())
    for (const Sample& sample : entry.samples) known.insert(sample.form);
  const compute::Disassembler disassembler(tested_target());
  std::mt19937 random(1);
  std::set<std::string> missing;
  for (const InstructionFormat& format : instruction_formats()) {
    for (std::uint32_t opcode = 0; opcode < format.opcodes(); ++opcode)
      for (unsigned i = 0; i < samples && !format.is_other_encoding(opcode); ++i) {
        const auto decoded = disassembler.decode(code_of(with_random_operands(format, opcode, random)), 0);
        if (!decoded) continue;
        const std::string form = form_of(*decoded, own_mnemonic(*decoded, format.names_second_half));
        if (known.contains(form) || !assembles(decoded->text)) continue;
        missing.insert(form + ": " + decoded->text);
      }
  }
  return missing;
}

std::optional<std::string> reason_of_refusal(const std::string& mnemonic) {
  struct Reason {
    std::string_view part;  ///< of the mnemonic
    const char* text;
  };
  static constexpr Reason reasons[] = {
      {"image_get_lod", "the level of detail of an image"},
      {"image_bvh", "ray tracing"},
      {"_bvh", "ray tracing"},
      {"image_msaa", "images of several samples a texel"},
      {"image_gather4h", "a gather of four texels of a row"},
      {"_pck", "texels as they lie in memory"},
      {"image_atomic_", "atomic operations of images on floating-point numbers"},
      {"_rfe_", "trap handlers"},
      {"s_endpgm_ordered_ps_done", "graphics: the end of a pixel shader"},
      {"v_interp_", "graphics: parameters of a pixel shader"},
      {"v_mullit_", "graphics: lighting"},
      {"ds_ordered_count", "graphics: counters in the order of waves"},
      {"_gs_reg", "graphics: registers of geometry shaders"},
      {"s_wait_event", "graphics: exports"},
      {"s_code_end", "padding behind a program"},
      {"s_subvector_loop", "a loop over the halves of a wavefront"},
      {"movrelsd_2", "registers that two parts of M0 number"},
      {"v_swaprel_", "registers that M0 numbers"},
      {"fcmpswap", "compare and swap of floating-point numbers"},
      {"cmpswap_f32", "compare and swap of floating-point numbers"},
      {"addtid", "addresses made of the lane's number"},
      {"buffer_load_lds_", "loads into LDS: later assemblers have none for RDNA3"},
      {"s_sendmsg_rtn_b32", "messages with an answer of 32 bits"},
      {"v_dot2", "dot products of bfloat16"},
      {"_dot2acc_f32_bf16", "dot products of bfloat16"},
      {"v_dot4_f32_", "dot products of 8-bit floating point"},
      {"v_cvt_scalef32_sr_", "rounding by random bits"},
      {"v_cvt_sr_", "rounding by random bits"},
      {"s_alloc_vgpr", "dynamic VGPRs"},
      {"s_barrier_", "barriers other than the work-group's"},
      {"s_get_barrier_state", "barriers other than the work-group's"},
      {"_ordered_add_", "atomic operations in the order of waves"},
      {"_load_tr_", "loads that transpose"},
      {"_block", "blocks of registers"},
  };
  for (const Reason& reason : reasons)
    if (mnemonic.find(reason.part) != std::string::npos) return reason.text;
  return std::nullopt;
}

std::optional<std::string> refusal_of(const Sample& sample) {
  std::vector<std::byte> code = sample.code;
  // A branch of one word's distance lands behind the first end.
  const std::uint32_t last = end_program();
  for (unsigned i = 0; i < 8; ++i) {
    const auto* end = reinterpret_cast<const std::byte*>(&last);
    code.insert(code.end(), end, end + sizeof last);
  }
  auto program = compute::Program::read(reinterpret_cast<std::uintptr_t>(code.data()), tested_target());
  if (const auto* unreadable = std::get_if<compute::UnreadableCode>(&program)) return unreadable->text;
  constexpr std::uint32_t usual_mode = 0x3f0;
  llvm::LLVMContext context;
  llvm::Module module("sample", context);
  try {
    compute::translate(std::get<compute::Program>(program), {.float_mode = usual_mode},
                       {.vectors = compute::HostVectors::avx512}, "wave", module);
    return std::nullopt;
  } catch (const compute::UnsupportedInstruction& refusal) {
    return refusal.text;
  }
}

}  // namespace softgpu::isa
