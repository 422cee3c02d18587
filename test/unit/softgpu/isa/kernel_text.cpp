#include "kernel_text.hpp"

#include <sstream>
#include <stdexcept>

#include "machine_state.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

// The kernel's own registers, above those of the snippets.
//   s[24:31] control words   s[32:33] the state's address   s[40:41] where a row is
//   s36 SCC afterwards       s[38:39] EXEC afterwards       s42 rows left   s43 where in LDS a row is
//   v16 lane * 4             v17 to v19 temporary
/// A row of LDS is a dword a lane.
unsigned lds_row_bytes() { return 4 * tested_target().wavefront_size; }

/// Does `body` for each of `rows` parts of the state, whose address is in s[40:41]. A loop: every memory instruction is
/// translated for all the ways in which its lanes may lie, and the state takes dozens of them.
std::string for_each_row(const char* name, std::size_t offset, unsigned rows, unsigned stride,
                         const std::string& body) {
  std::ostringstream text;
  text << "  s_add_u32 s40, s32, " << offset << "\n"
       << "  s_addc_u32 s41, s33, 0\n"
       << "  s_movk_i32 s42, " << rows << "\n"
       << name << ":\n"
       << body << "  s_add_u32 s40, s40, " << stride << "\n"
       << "  s_addc_u32 s41, s41, 0\n"
       << "  s_sub_u32 s42, s42, 1\n"
       << "  s_cmp_lg_u32 s42, 0\n"
       << "  s_cbranch_scc1 " << name << "\n";
  return text.str();
}

/// LDS row after row, whose address the body finds in v18.
std::string for_each_lds_row(const char* name, const std::string& body) {
  const unsigned bytes = lds_row_bytes();
  return "  s_mov_b32 s43, 0\n" + for_each_row(name, offsetof(MachineState, lds), lds_bytes / bytes, bytes,
                                               "  v_add3_u32 v18, v16, s43, 0\n" + body + "  s_add_u32 s43, s43, " +
                                                   std::to_string(bytes) + "\n");
}

/// Vector register after register: each takes its turn as v0, and the body leaves the new v15 in v17.
std::string for_each_vector(const char* name, const std::string& body) {
  std::ostringstream text;
  text << body;
  for (unsigned i = 0; i + 1 < vector_count; ++i) text << "  v_mov_b32_e32 v" << i << ", v" << i + 1 << "\n";
  text << "  v_mov_b32_e32 v" << vector_count - 1 << ", v17\n";
  return for_each_row(name, offsetof(MachineState, vector), vector_count, sizeof(MachineState::vector) / vector_count,
                      text.str());
}

/// A kernel with scratch gets its values in s[0:9]: moves them to the registers that the rest of the prologue expects.
void scratch_prologue(std::ostream& text) {
  using enum compute::Architecture::FlatScratch;
  switch (tested_target().architecture->flat_scratch) {
  case in_scalar_registers:
    text << "  s_add_u32 flat_scratch_lo, s6, s9\n"
         << "  s_addc_u32 flat_scratch_hi, s7, 0\n";
    break;
  case in_hardware_registers:
    text << "  s_add_u32 s6, s6, s9\n"
         << "  s_addc_u32 s7, s7, 0\n"
         << "  s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s6\n"
         << "  s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s7\n";
    break;
  case architected:
    text << "  s_mov_b32 s9, 0\n";  // no wave offset either: the first wavefront's is 0
    break;
  }
  text << "  s_add_u32 s44, s0, s9\n"
       << "  s_addc_u32 s45, s1, 0\n"
       << "  s_mov_b64 s[46:47], s[2:3]\n"
       << "  s_mov_b64 s[0:1], s[4:5]\n"
       << "  s_mov_b32 s2, s8\n";
}

void prologue(std::ostream& text, Lds lds) {
  text << "  s_load_dwordx2 s[32:33], s[0:1], 0x0\n"
       << "  v_lshlrev_b32_e32 v16, 2, v0\n"
       << "  s_mul_i32 s2, " << (tested_target().architecture->has_group_ids_in_ttmps ? "ttmp9" : "s2") << ", "
       << sizeof(MachineState) << "\n"
       << "  s_waitcnt lgkmcnt(0)\n"
       << "  s_add_u32 s32, s32, s2\n"
       << "  s_addc_u32 s33, s33, 0\n";
  if (lds == Lds::loaded_and_stored)
    text << for_each_lds_row("load_lds", "  global_load_dword v17, v16, s[40:41]\n"
                                         "  s_waitcnt vmcnt(0)\n"
                                         "  ds_write_b32 v18, v17\n");
  text << for_each_vector("load_vectors", "  global_load_dword v17, v16, s[40:41]\n  s_waitcnt vmcnt(0)\n")
       << "  s_load_dwordx8 s[24:31], s[32:33], 0x0\n"
       << "  s_load_dwordx16 s[0:15], s[32:33], 0x20\n"
       << "  s_load_dwordx8 s[16:23], s[32:33], 0x60\n"
       << "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
       << "  s_mov_b64 vcc, s[28:29]\n"
       << "  s_mov_b32 m0, s30\n"
       << "  s_mov_b64 exec, s[26:27]\n";
}

void epilogue(std::ostream& text, Lds lds) {
  text << "done:\n"
       << "  s_cselect_b32 s36, 1, 0\n"
       << "  s_mov_b64 s[38:39], exec\n"
       << "  s_mov_b64 exec, -1\n"
       << "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
       << for_each_vector("store_vectors", "  global_store_dword v16, v0, s[40:41]\n")
       // The scalars become the lanes of one vector register, in the order of MachineState's first 32 words.
       << "  v_mov_b32_e32 v17, 0\n"
       << "  v_writelane_b32 v17, s24, 0\n"
       << "  v_writelane_b32 v17, s36, 1\n"
       << "  v_writelane_b32 v17, s38, 2\n"
       << "  v_writelane_b32 v17, s39, 3\n"
       << "  v_writelane_b32 v17, vcc_lo, 4\n"
       << "  v_writelane_b32 v17, vcc_hi, 5\n"
       << "  v_writelane_b32 v17, m0, 6\n";
  for (unsigned i = 0; i < scalar_count; ++i) text << "  v_writelane_b32 v17, s" << i << ", " << 8 + i << "\n";
  if (lds == Lds::loaded_and_stored)
    text << for_each_lds_row("store_lds", "  ds_read_b32 v19, v18\n"
                                          "  s_waitcnt lgkmcnt(0)\n"
                                          "  global_store_dword v16, v19, s[40:41]\n");
  text << "  s_mov_b32 exec_hi, 0\n"
       << "  global_store_dword v16, v17, s[32:33]\n"
       << "  s_endpgm\n";
}

std::string with_own_labels(std::string snippet, std::size_t number) {
  std::string label = "_";
  label += std::to_string(number);
  for (std::size_t at = snippet.find("%="); at != std::string::npos; at = snippet.find("%="))
    snippet.replace(at, 2, label);
  return snippet;
}

}  // namespace

std::string kernel_text(const std::vector<std::string>& snippets, Lds lds, Scratch scratch) {
  std::ostringstream text;
  if (scratch == Scratch::available) scratch_prologue(text);
  prologue(text, lds);
  for (std::size_t i = 0; i + 1 < snippets.size(); ++i)
    text << "  s_cmp_eq_u32 s24, " << i << "\n  s_cbranch_scc1 case_" << i << "\n";
  for (std::size_t i = snippets.size(); i-- > 0;)  // the last case follows the chain of comparisons
    text << "case_" << i << ":\n  s_cmp_lg_u32 s25, 0\n  " << with_own_labels(snippets[i], i) << "\n  s_branch done\n";
  epilogue(text, lds);
  const auto spelled = spelled_for_target(text.str());
  if (!spelled) throw std::runtime_error("the test kernel does not assemble:\n" + text.str());
  return *spelled;
}

}  // namespace softgpu::isa
