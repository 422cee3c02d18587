#include "instruction_table.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <span>
#include <stdexcept>
#include <string_view>
#include <variant>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include "assembler.hpp"
#include "softgpu/compute/emit/emitter.hpp"
#include "softgpu/compute/host_code/translator.hpp"
#include "softgpu/compute/instruction_set/decoder.hpp"
#include "softgpu/compute/program/program.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

using Words = std::uint64_t;

/// An encoding of the ISA manual, "Microcode Formats": `bits` with registers filled in, and where the opcode is.
struct Format {
  const char* name;
  Words bits;
  unsigned opcode_shift;
  unsigned opcode_bits;
};

constexpr Words second(std::uint32_t dword) { return Words{dword} << 32; }

// Even registers, so that they can begin a tuple: v0, v2, v4, v6; s4, s8, s16.
constexpr std::uint32_t vop3_sources = 0x100 | 0x102 << 9 | 0x104 << 18;
constexpr std::uint32_t sdwa_dwords = 0x06060600;
constexpr std::uint32_t dpp_shift = 0xff080000 | 0x101 << 8;
constexpr std::uint32_t dpp_broadcast = 0xff080000 | 0x150 << 8;          // the only one for 64 bits
constexpr std::uint32_t buffer_operands = 0x80000000 | 1 << 16 | 2 << 8;  // s[4:7], soffset 0, v2, v0
constexpr Format formats[] = {
    {"SOP2", 0x80040408, 23, 7},
    {"SOPK", 0xb0040001, 23, 5},  // 1: over one word, or the lowest bit of HW_REG_MODE
    {"SOP1", 0xbe840008, 8, 8},
    {"SOPC", 0xbf000408, 16, 7},
    {"SOPP", 0xbf800001, 16, 7},  // 1: over one word, or MSG_INTERRUPT
    {"SOPP", 0xbf800000, 16, 7},
    {"SMEM", 0xc0020402, 18, 8},
    {"SMEM", 0xc0030402, 18, 8},  // returning
    {"SMEM", 0xc0000400, 18, 8},  // a clock's value, or no operand: IMM must be 0
    {"VOP2", 0x00000100 | 2 << 9 | 4 << 17, 25, 6},
    {"VOP2", 0x000000f9 | 2 << 9 | 4 << 17 | second(sdwa_dwords), 25, 6},
    {"VOP2", 0x000000fa | 2 << 9 | 4 << 17 | second(dpp_shift), 25, 6},
    {"VOP2", 0x000000fa | 2 << 9 | 4 << 17 | second(dpp_broadcast), 25, 6},
    {"VOP1", 0x7e000100 | 4 << 17, 9, 8},
    {"VOP1", 0x7e0000f9 | 4 << 17 | second(0x00060600), 9, 8},
    {"VOP1", 0x7e0000fa | 4 << 17 | second(dpp_shift), 9, 8},
    {"VOP1", 0x7e0000fa | 4 << 17 | second(dpp_broadcast), 9, 8},
    {"VOPC", 0x7c000100 | 2 << 9, 17, 8},
    {"VOPC", 0x7c0000f9 | 2 << 9 | second(sdwa_dwords), 17, 8},
    {"VOP3", 0xd0000004 | second(vop3_sources), 16, 10},
    {"VOP3", 0xd0000010 | second(vop3_sources), 16, 10},  // no source is in the destination
    {"VOP3", 0xd0000004 | second(0x100 | 0x102 << 9), 16, 10},
    {"VOP3", 0xd0000004 | second(0x100 | 0x102 << 9 | 4 << 18), 16, 10},  // a mask is the last source
    {"VOP3", 0xd0000404 | second(0x100 | 0x102 << 9), 16, 10},            // a mask is the second result
    {"VOP3", 0xd0000404 | second(0x100 | 0x102 << 9 | 8 << 18), 16, 10},  // both
    {"VOP3", 0xd0000404 | second(vop3_sources), 16, 10},
    {"VOP3", 0xd0000004 | second(0x100 | 4 << 9), 16, 10},  // a lane's number is the second source
    {"VOP3", 0xd0000004 | second(0x004 | 4 << 9), 16, 10},
    {"VOP3", 0xd0000004 | second(0x100), 16, 10},
    {"VOP3", 0xd0000000, 16, 10},
    {"VOP3P", 0xd3800004 | 0x4000 | second(vop3_sources | 3U << 27), 16, 6},
    {"VOP3P", 0xd3800004 | 0x4000 | second(0x100 | 0x102 << 9 | 3U << 27), 16, 6},
    {"VOP3P-MAI", 0xd3c00000 | second(0x120 | 0x130 << 9 | 0x100 << 18), 16, 6},
    {"VOP3P-MAI", 0xd3c00000 | second(0x100), 16, 6},
    {"DS", 0xd8000000 | second(0x08060402), 17, 8},
    {"DS", 0xd8000000 | second(0x08000002), 17, 8},
    {"DS", 0xd8000000 | second(0x00000402), 17, 8},
    {"DS", 0xd8000000 | second(0x00060402), 17, 8},
    {"DS", 0xd8000000 | second(0x08000402), 17, 8},
    {"DS", 0xd8000000 | second(0x00000002), 17, 8},
    {"DS", 0xd8000000 | second(0x08000000), 17, 8},
    {"DS", 0xd8000000, 17, 8},
    {"DS", 0xd8010000 | second(0x00000002), 17, 8},  // GDS
    {"DS", 0xd8010000 | second(0x08000002), 17, 8},
    {"DS", 0xd8010000 | second(0x08000000), 17, 8},
    {"DS", 0xd8010000, 17, 8},
    {"FLAT", 0xdc000000 | second(0x08000402), 18, 7},
    {"FLAT", 0xdc010000 | second(0x08000402), 18, 7},
    {"SCRATCH", 0xdc004000 | second(0x087f0402), 18, 7},
    {"GLOBAL", 0xdc008000 | second(0x087f0402), 18, 7},
    {"GLOBAL", 0xdc018000 | second(0x087f0402), 18, 7},
    {"GLOBAL", 0xdc008000 | second(0x08080402), 18, 7},
    {"MUBUF", 0xe0001000 | second(buffer_operands), 18, 7},
    {"MUBUF", 0xe0005000 | second(buffer_operands), 18, 7},
    {"MUBUF", 0xe0000000 | second(0), 18, 7},
    {"MUBUF", 0xe0010000 | second(buffer_operands), 18, 7},  // LDS
    {"MTBUF", 0xeba01000 | second(buffer_operands), 15, 4},
    {"MIMG", 0xf0000f00 | second(1 << 16 | 8 << 8), 18, 7},
    {"MIMG", 0xf0001f00 | second(1 << 16 | 8 << 8), 18, 7},
    {"MIMG", 0xf0003f00 | second(1 << 16 | 8 << 8), 18, 7},
};

constexpr std::uint32_t end_program = 0xbf810000;

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

/// The highest opcodes of these are the prefixes of other encodings.
bool is_other_encoding(const Format& format, Words opcode) {
  const std::string_view name = format.name;
  return (name == "SOP2" && opcode >= 0x60) || (name == "SOPK" && opcode >= 0x1d) ||
         (name == "VOP3" && opcode >= 0x380);
}

std::vector<std::byte> code_of(Words words) {
  std::vector<std::byte> code(sizeof words);
  std::memcpy(code.data(), &words, sizeof words);
  return code;
}

/// All bits of some of the bytes.
Words any_bytes(std::mt19937_64& random) {
  Words bits = 0;
  for (Words chosen = random() & 0xff; chosen != 0; chosen &= chosen - 1)
    bits |= Words{0xff} << 8 * std::countr_zero(chosen);
  return bits;
}

std::string form_of(const compute::Instruction& instruction) {
  return instruction.mnemonic + suffix_of(instruction.encoding);
}

std::map<std::string, TableEntry> make_table() {
  std::map<std::string, TableEntry> table;
  const compute::Disassembler disassembler(tested_target());
  std::set<std::string> seen;
  for (const Format& format : formats) {
    for (Words opcode = 0; opcode < Words{1} << format.opcode_bits; ++opcode) {
      std::vector<std::byte> code = code_of(format.bits | opcode << format.opcode_shift);
      const auto decoded = disassembler.decode(code, 0);
      if (!decoded) continue;
      const std::string form = form_of(*decoded);
      if (is_other_encoding(format, opcode) || seen.contains(form) || !assembles(decoded->text)) continue;
      seen.insert(form);
      code.resize(decoded->size);
      // VOP3 holds the long forms of the others, which name the instruction's format if they come first.
      TableEntry& entry = table.try_emplace(decoded->mnemonic, TableEntry{format.name, {}}).first->second;
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
  std::mt19937_64 random(1);
  std::set<std::string> missing;
  for (const Format& format : formats) {
    const Words operands = ((Words{1} << format.opcode_shift) - 1) | ~Words{0} << 32;
    const Words opcodes = ((Words{1} << format.opcode_bits) - 1) << format.opcode_shift;
    for (Words opcode = 0; opcode < Words{1} << format.opcode_bits; ++opcode)
      for (unsigned i = 0; i < samples && !is_other_encoding(format, opcode); ++i) {
        const Words random_bits = operands & any_bytes(random);  // the others stay: many a modifier must be 0
        const Words bits = (format.bits & ~(random_bits | opcodes)) | (random() & random_bits);
        const auto decoded = disassembler.decode(code_of(bits | opcode << format.opcode_shift), 0);
        if (!decoded || known.contains(form_of(*decoded)) || !assembles(decoded->text)) continue;
        missing.insert(form_of(*decoded) + ": " + decoded->text);
      }
  }
  return missing;
}

std::string reason_of_refusal(const std::string& mnemonic, const std::string& format) {
  struct Reason {
    std::string_view part;  ///< of the mnemonic
    const char* text;
  };
  static constexpr Reason reasons[] = {
      {"image_", "images: compute kernels of gfx90a have none"},
      {"_rfe_", "trap handlers"},
      {"s_endpgm_ordered_ps_done", "graphics: the end of a pixel shader"},
  };
  for (const Reason& reason : reasons)
    if (mnemonic.find(reason.part) != std::string::npos) return reason.text;
  throw std::logic_error(mnemonic + " (" + format + ") is refused and nothing says why");
}

std::optional<std::string> refusal_of(const Sample& sample) {
  std::vector<std::byte> code = sample.code;
  // A branch of one word's distance lands behind the first end.
  for (unsigned i = 0; i < 8; ++i) {
    const auto* end = reinterpret_cast<const std::byte*>(&end_program);
    code.insert(code.end(), end, end + sizeof end_program);
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
