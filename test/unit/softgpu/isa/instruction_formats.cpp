#include "instruction_formats.hpp"

#include <iterator>
#include <string_view>
#include <vector>

#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

// Even registers, so that they can begin a tuple: v0, v2, v4, v6; s4, s8, s16.
constexpr std::uint32_t vop3_sources = 0x100 | 0x102 << 9 | 0x104 << 18;
constexpr std::uint32_t sdwa_dwords = 0x06060600;
constexpr std::uint32_t dpp_shift = 0xff080000 | 0x101 << 8;
constexpr std::uint32_t dpp_broadcast = 0xff080000 | 0x150 << 8;          // the only one for 64 bits
constexpr std::uint32_t buffer_operands = 0x80000000 | 1 << 16 | 2 << 8;  // s[4:7], soffset 0, v2, v0

constexpr InstructionFormat gfx9_formats[] = {
    {"SOP2", {0x80040408}, 23, 7},
    {"SOPK", {0xb0040001}, 23, 5},  // 1: over one word, or the lowest bit of HW_REG_MODE
    {"SOP1", {0xbe840008}, 8, 8},
    {"SOPC", {0xbf000408}, 16, 7},
    {"SOPP", {0xbf800001}, 16, 7},  // 1: over one word, or MSG_INTERRUPT
    {"SOPP", {0xbf800000}, 16, 7},
    {"SMEM", {0xc0020402}, 18, 8},
    {"SMEM", {0xc0030402}, 18, 8},  // returning
    {"SMEM", {0xc0000400}, 18, 8},  // a clock's value, or no operand: IMM must be 0
    {"VOP2", {0x00000100 | 2 << 9 | 4 << 17}, 25, 6},
    {"VOP2", {0x000000f9 | 2 << 9 | 4 << 17, sdwa_dwords}, 25, 6},
    {"VOP2", {0x000000fa | 2 << 9 | 4 << 17, dpp_shift}, 25, 6},
    {"VOP2", {0x000000fa | 2 << 9 | 4 << 17, dpp_broadcast}, 25, 6},
    {"VOP1", {0x7e000100 | 4 << 17}, 9, 8},
    {"VOP1", {0x7e0000f9 | 4 << 17, 0x00060600}, 9, 8},
    {"VOP1", {0x7e0000fa | 4 << 17, dpp_shift}, 9, 8},
    {"VOP1", {0x7e0000fa | 4 << 17, dpp_broadcast}, 9, 8},
    {"VOPC", {0x7c000100 | 2 << 9}, 17, 8},
    {"VOPC", {0x7c0000f9 | 2 << 9, sdwa_dwords}, 17, 8},
    {"VOP3", {0xd0000004, vop3_sources}, 16, 10},
    {"VOP3", {0xd0000010, vop3_sources}, 16, 10},  // no source is in the destination
    {"VOP3", {0xd0000004, 0x100 | 0x102 << 9}, 16, 10},
    {"VOP3", {0xd0000004, 0x100 | 0x102 << 9 | 4 << 18}, 16, 10},  // a mask is the last source
    {"VOP3", {0xd0000404, 0x100 | 0x102 << 9}, 16, 10},            // a mask is the second result
    {"VOP3", {0xd0000404, 0x100 | 0x102 << 9 | 8 << 18}, 16, 10},  // both
    {"VOP3", {0xd0000404, vop3_sources}, 16, 10},
    {"VOP3", {0xd0000004, 0x100 | 4 << 9}, 16, 10},  // a lane's number is the second source
    {"VOP3", {0xd0000004, 0x004 | 4 << 9}, 16, 10},
    {"VOP3", {0xd0000004, 0x100}, 16, 10},
    {"VOP3", {0xd0000000}, 16, 10},
    {"VOP3P", {0xd3800004 | 0x4000, vop3_sources | 3U << 27}, 16, 6},
    {"VOP3P", {0xd3800004 | 0x4000, 0x100 | 0x102 << 9 | 3U << 27}, 16, 6},
    {"VOP3P-MAI", {0xd3c00000, 0x120 | 0x130 << 9 | 0x100 << 18}, 16, 6},
    {"VOP3P-MAI", {0xd3c00000, 0x100}, 16, 6},
    {"DS", {0xd8000000, 0x08060402}, 17, 8},
    {"DS", {0xd8000000, 0x08000002}, 17, 8},
    {"DS", {0xd8000000, 0x00000402}, 17, 8},
    {"DS", {0xd8000000, 0x00060402}, 17, 8},
    {"DS", {0xd8000000, 0x08000402}, 17, 8},
    {"DS", {0xd8000000, 0x00000002}, 17, 8},
    {"DS", {0xd8000000, 0x08000000}, 17, 8},
    {"DS", {0xd8000000}, 17, 8},
    {"DS", {0xd8010000, 0x00000002}, 17, 8},  // GDS
    {"DS", {0xd8010000, 0x08000002}, 17, 8},
    {"DS", {0xd8010000, 0x08000000}, 17, 8},
    {"DS", {0xd8010000}, 17, 8},
    {"FLAT", {0xdc000000, 0x08000402}, 18, 7},
    {"FLAT", {0xdc010000, 0x08000402}, 18, 7},
    {"SCRATCH", {0xdc004000, 0x087f0402}, 18, 7},
    {"GLOBAL", {0xdc008000, 0x087f0402}, 18, 7},
    {"GLOBAL", {0xdc018000, 0x087f0402}, 18, 7},
    {"GLOBAL", {0xdc008000, 0x08080402}, 18, 7},
    {"MUBUF", {0xe0001000, buffer_operands}, 18, 7},
    {"MUBUF", {0xe0005000, buffer_operands}, 18, 7},
    {"MUBUF", {0xe0000000}, 18, 7},
    {"MUBUF", {0xe0010000, buffer_operands}, 18, 7},  // LDS
    {"MTBUF", {0xeba01000, buffer_operands}, 15, 4},
};

constexpr InstructionFormat gfx90a_formats[] = {
    {"MIMG", {0xf0001300, 1 << 16 | 8 << 8}, 18, 7},  // two components: atomics may compare
    {"MIMG", {0xf0000f00, 1 << 16 | 8 << 8}, 18, 7},
    {"MIMG", {0xf0001f00, 1 << 16 | 8 << 8}, 18, 7},
    {"MIMG", {0xf0003f00, 1 << 16 | 8 << 8}, 18, 7},
};

// --- RDNA

constexpr std::uint32_t dpp_row = 0xff080000 | 0x111 << 8;
constexpr std::uint32_t image_operands = 2 << 16 | 8 << 8 | 2;  // v2 and on, v8 and on, s[8:15]

constexpr InstructionFormat rdna_formats[] = {
    {"SOP2", {0x80040408}, 23, 7},
    {"SOPK", {0xb0040001}, 23, 5},
    {"SOP1", {0xbe8000c1}, 8, 8, false, "s_barrier_"},  // -1: the work-group's
    {"SOP1", {0xbe840083}, 8, 8},                       // MSG_RTN_GET_REALTIME
    {"SOP1", {0xbe840008}, 8, 8},
    {"SOPC", {0xbf000408}, 16, 7},
    {"SOPP", {0xbf80ffff}, 16, 7, false, "s_barrier_"},
    {"SOPP", {0xbf800001}, 16, 7},
    {"SOPP", {0xbf800000}, 16, 7},
    {"VOP2", {0x00000100 | 2 << 9 | 4 << 17}, 25, 6},
    {"VOP2", {0x000000fa | 2 << 9 | 4 << 17, dpp_row}, 25, 6},
    {"VOP1", {0x7e000100 | 4 << 17}, 9, 8},
    {"VOP1", {0x7e0000fa | 4 << 17, dpp_row}, 9, 8},
    {"VOPC", {0x7c000100 | 2 << 9}, 17, 8},
    {"VOPC", {0x7c0000fa | 2 << 9, dpp_row}, 17, 8},
    {"VOP3", {0xd4000004, vop3_sources}, 16, 10},
    {"VOP3", {0xd4000010, vop3_sources}, 16, 10},
    {"VOP3", {0xd4000004, 0x100 | 0x102 << 9}, 16, 10},
    {"VOP3", {0xd400007e, 0x100 | 0x102 << 9}, 16, 10},            // into EXEC
    {"VOP3", {0xd4000004, 0x100 | 0x102 << 9 | 4 << 18}, 16, 10},  // a mask is the last source
    {"VOP3", {0xd4000404, 0x100 | 0x102 << 9}, 16, 10},            // a mask is the second result
    {"VOP3", {0xd4000404, 0x100 | 0x102 << 9 | 8 << 18}, 16, 10},  // both
    {"VOP3", {0xd4000404, vop3_sources}, 16, 10},
    {"VOP3", {0xd4000004, 0x100 | 4 << 9}, 16, 10},  // a lane's number is the second source
    {"VOP3", {0xd4000004, 0x004 | 4 << 9}, 16, 10},
    {"VOP3", {0xd4000004, 0x004}, 16, 10},
    {"VOP3", {0xd4000004, 0x100 | 4 << 9 | 4 << 18}, 16, 10},
    {"VOP3", {0xd4000004, 0x100}, 16, 10},
    {"VOP3", {0xd4000000}, 16, 10},
    {"VOP3P", {0xcc000004 | 0x4000, vop3_sources | 3U << 27}, 16, 7},
    {"VOP3P", {0xcc000010 | 0x4000, vop3_sources | 3U << 27}, 16, 7},
    {"VOP3P", {0xcc000010 | 0x4000, 0x100 | 0x108 << 9 | 0x110 << 18 | 3U << 27}, 16, 7},
    {"VOP3P", {0xcc000004 | 0x4000, 0x100 | 0x102 << 9 | 3U << 27}, 16, 7},
    {"DS", {0xd8000000, 0x08060402}, 18, 8},
    {"DS", {0xd8000000, 0x08000002}, 18, 8},
    {"DS", {0xd8000000, 0x00000402}, 18, 8},
    {"DS", {0xd8000000, 0x00060402}, 18, 8},
    {"DS", {0xd8000000, 0x08000402}, 18, 8},
    {"DS", {0xd8000000, 0x00000002}, 18, 8},
    {"DS", {0xd8000000, 0x08000000}, 18, 8},
    {"DS", {0xd8000000}, 18, 8},
    {"DS", {0xd8020000, 0x00000002}, 18, 8},  // GDS
    {"DS", {0xd8020000, 0x08000002}, 18, 8},
    {"DS", {0xd8020000, 0x08000000}, 18, 8},
    {"DS", {0xd8020000}, 18, 8},
};

constexpr std::uint32_t rdna2_sampler = 4 << 21;  // s[16:19]

constexpr InstructionFormat rdna2_formats[] = {
    {"VOP2", {0x000000f9 | 2 << 9 | 4 << 17, sdwa_dwords}, 25, 6},
    {"VOP1", {0x7e0000f9 | 4 << 17, 0x00060600}, 9, 8},
    {"VOPC", {0x7c0000f9 | 2 << 9, sdwa_dwords}, 17, 8},
    {"SMEM", {0xf4000402, 0xfa000000}, 18, 8},
    {"SMEM", {0xf4010402, 0xfa000000}, 18, 8},  // returning
    {"SMEM", {0xf4000400}, 18, 8},
    {"SMEM", {0xf4000400, 0xfa000000}, 18, 8},
    {"SMEM", {0xf4000000}, 18, 8},
    {"FLAT", {0xdc000000, 0x087d0402}, 18, 7},
    {"FLAT", {0xdc010000, 0x087d0402}, 18, 7},
    {"SCRATCH", {0xdc004000, 0x087d0402}, 18, 7},
    {"GLOBAL", {0xdc008000, 0x087d0402}, 18, 7},
    {"GLOBAL", {0xdc018000, 0x087d0402}, 18, 7},
    {"GLOBAL", {0xdc008000, 0x08080402}, 18, 7},
    {"MUBUF", {0xe0001000, buffer_operands}, 18, 8},
    {"MUBUF", {0xe0005000, buffer_operands}, 18, 8},
    {"MUBUF", {0xe0000000}, 18, 8},
    {"MUBUF", {0xe0011000, buffer_operands}, 18, 8},  // LDS
    {"MTBUF", {0xe8b01000, buffer_operands}, 16, 3},
    {"MTBUF", {0xe8b01000, buffer_operands | 1 << 21}, 16, 3},
    // Images: two-dimensional, with samples, of rays; with a sampler. Opcodes from 128 on have a bit at the end.
    {"MIMG", {0xf0000108, image_operands}, 18, 7},
    {"MIMG", {0xf0000109, image_operands}, 18, 7},
    {"MIMG", {0xf0002108, image_operands}, 18, 7},
    {"MIMG", {0xf0002308, image_operands}, 18, 7},
    {"MIMG", {0xf0000f08, image_operands}, 18, 7},
    {"MIMG", {0xf0000f30, image_operands}, 18, 7},
    {"MIMG", {0xf0021139, image_operands}, 18, 7},
    {"MIMG", {0xf0008f01, image_operands}, 18, 7},
    {"MIMG", {0xf0000108, rdna2_sampler | image_operands}, 18, 7},
    {"MIMG", {0xf0000109, rdna2_sampler | image_operands}, 18, 7},
    {"MIMG", {0xf0000f08, rdna2_sampler | image_operands}, 18, 7},
    {"MIMG", {0xf0000f09, rdna2_sampler | image_operands}, 18, 7},
};

constexpr InstructionFormat rdna3_formats[] = {
    {"VOP3", {0xd4000004, 0xfa | 0x102 << 9 | 0x104 << 18, dpp_row}, 16, 10},
    {"VOP3", {0xd4000004, 0xfa | 0x102 << 9 | 4 << 18, dpp_row}, 16, 10},
    {"VOP3", {0xd4000404, 0xfa | 0x102 << 9 | 8 << 18, dpp_row}, 16, 10},
    {"VOP3", {0xd4000404, 0xfa | 0x102 << 9, dpp_row}, 16, 10},
    {"VOP3", {0xd4000004, 0xfa | 0x102 << 9, dpp_row}, 16, 10},
    {"VOP3", {0xd400007e, 0xfa | 0x102 << 9, dpp_row}, 16, 10},
    {"VOP3", {0xd4000004, 0xfa, dpp_row}, 16, 10},
    {"VOP3P", {0xcc000004 | 0x4000, 0xfa | 0x102 << 9 | 0x104 << 18 | 3U << 27, dpp_row}, 16, 7},
    {"VOP3P", {0xcc000004 | 0x4000, 0xfa | 0x102 << 9 | 3U << 27, dpp_row}, 16, 7},
    {"VOPD", {0xc8000100 | 3 << 17, 0x101 | 3 << 9 | 4 << 17 | 9 << 24}, 22, 4},
    {"VOPD", {0xc8000100 | 3 << 22 | 2 << 9, 0x101 | 4 << 17 | 9 << 24}, 17, 5, true},
};

constexpr InstructionFormat gfx11_formats[] = {
    {"SMEM", {0xf4000402, 0xf8000000}, 18, 8},
    {"SMEM", {0xf4000000, 0xf8000000}, 18, 8},
    {"SMEM", {0xf4000000}, 18, 8},
    {"FLAT", {0xdc000000, 0x087c0402}, 18, 7},
    {"FLAT", {0xdc004000, 0x087c0402}, 18, 7},
    {"SCRATCH", {0xdc010000, 0x08fc0402}, 18, 7},
    {"GLOBAL", {0xdc020000, 0x087c0402}, 18, 7},
    {"GLOBAL", {0xdc024000, 0x087c0402}, 18, 7},
    {"GLOBAL", {0xdc020000, 0x08080402}, 18, 7},
    {"MUBUF", {0xe0000000, buffer_operands | 1 << 22}, 18, 8},
    {"MUBUF", {0xe0004000, buffer_operands | 1 << 22}, 18, 8},
    {"MUBUF", {0xe0000000}, 18, 8},
    {"MTBUF", {0xe8b00000, buffer_operands | 1 << 22}, 15, 4},
    {"MIMG", {0xf0000104, image_operands}, 18, 8},
    {"MIMG", {0xf0004304, image_operands}, 18, 8},
    {"MIMG", {0xf0000f04, image_operands}, 18, 8},
    {"MIMG", {0xf000019c, 1 << 22 | image_operands}, 18, 8},
    {"MIMG", {0xf0008f80, image_operands}, 18, 8},
    {"MIMG", {0xf0000104, 4 << 26 | image_operands}, 18, 8},
    {"MIMG", {0xf0000f04, 4 << 26 | image_operands}, 18, 8},
};

// Registers of GFX12's memory instructions: s8 or no base, v8 the result, v4 the data, v2 the address.
constexpr std::uint32_t result_and_data = 8 | 4 << 23;
constexpr std::uint32_t returns = 1 << 20;
constexpr std::uint32_t scratch_address = 1 << 17;

constexpr InstructionFormat gfx12_formats[] = {
    {"SMEM", {0xf4000402, 0xf8000000}, 13, 6},
    {"SMEM", {0xf4000000, 0xf8000000}, 13, 6},
    {"SMEM", {0xf4000000}, 13, 6},
    {"FLAT", {0xec00007c, result_and_data, 2}, 14, 8},
    {"FLAT", {0xec00007c, result_and_data | returns, 2}, 14, 8},
    {"SCRATCH", {0xed00007c, result_and_data | scratch_address, 2}, 14, 8},
    {"GLOBAL", {0xee00007c, result_and_data, 2}, 14, 8},
    {"GLOBAL", {0xee00007c, result_and_data | returns, 2}, 14, 8},
    {"GLOBAL", {0xee000008, result_and_data, 2}, 14, 8},
    {"GLOBAL", {0xee00007c, 0, 0}, 14, 8},
    {"VBUFFER", {0xc400007c, 8 | 4 << 9 | 1 << 23 | 1 << 30, 2}, 14, 8},
    {"VBUFFER", {0xc400007c, 8 | 4 << 9 | 1 << 23 | 1 << 30 | returns, 2}, 14, 8},
    {"VBUFFER", {0xc400007c, 8 | 4 << 9 | 22 << 23 | 1 << 30, 2}, 14, 8},
    {"VIMAGE", {0xd0000001 | 1 << 22, 8 | 8 << 9, 2 | 3 << 8}, 14, 8},
    {"VIMAGE", {0xd0000001 | 15 << 22, 8 | 8 << 9, 2 | 3 << 8 | 4 << 16 | 5 << 24}, 14, 8},
    {"VIMAGE", {0xd0000001 | 1 << 22, 8 | 8 << 9 | returns, 2 | 3 << 8}, 14, 8},
    {"VIMAGE", {0xd0000001 | 3 << 22, 8 | 8 << 9 | returns, 2 | 3 << 8}, 14, 8},
    {"VIMAGE", {0xd0000001 | 15 << 22, 8 | 8 << 9 | returns, 2 | 3 << 8}, 14, 8},
    {"VIMAGE", {0xd0000006 | 1 << 22, 8 | 8 << 9, 2 | 3 << 8 | 4 << 16}, 14, 8},
    {"VIMAGE", {0xd0000010 | 15 << 22, 8 | 8 << 9, 2 | 3 << 8 | 4 << 16 | 5 << 24}, 14, 8},
    {"VSAMPLE", {0xe4000001 | 1 << 22, 8 | 8 << 9 | 16U << 23, 2 | 3 << 8}, 14, 8},
    {"VSAMPLE", {0xe4000001 | 1 << 22, 8 | 8 << 9 | 16U << 23, 2 | 3 << 8 | 4 << 16}, 14, 8},
    {"VSAMPLE", {0xe4000001 | 1 << 22, 8 | 8 << 9 | 16U << 23, 2 | 3 << 8 | 4 << 16 | 5 << 24}, 14, 8},
};

template <std::size_t... sizes>
std::vector<InstructionFormat> together(const InstructionFormat (&... lists)[sizes]) {
  std::vector<InstructionFormat> all;
  (all.insert(all.end(), std::begin(lists), std::end(lists)), ...);
  return all;
}

std::vector<InstructionFormat> formats_of_target() {
  if (tests_gfx90a()) return together(gfx9_formats, gfx90a_formats);
  if (!tests_rdna()) return together(gfx9_formats);
  if (tests_rdna4()) return together(rdna_formats, rdna3_formats, gfx12_formats);
  if (tests_rdna3_or_later()) return together(rdna_formats, rdna3_formats, gfx11_formats);
  return together(rdna_formats, rdna2_formats);
}

}  // namespace

bool InstructionFormat::is_other_encoding(std::uint32_t opcode) const {
  const std::string_view encoding = name;
  return (encoding == "SOP2" && opcode >= 0x60) || (encoding == "SOPK" && opcode >= 0x1d) ||
         (encoding == "VOP2" && opcode >= 0x3e) || (encoding == "VOP3" && !tests_rdna() && opcode >= 0x380);
}

const std::vector<InstructionFormat>& instruction_formats() {
  static const std::vector<InstructionFormat> formats = formats_of_target();
  return formats;
}

}  // namespace softgpu::isa
