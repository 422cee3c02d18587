#include "kernel_text.hpp"

#include <sstream>

#include "machine_state.hpp"

namespace softgpu::isa {
namespace {

// The kernel's own registers, above those of the snippets.
//   s[24:31] control words   s[32:33] the state's address   s[34:35] the same plus vector_bias
//   s36 SCC afterwards       s[38:39] EXEC afterwards       v16 lane * 4   v17, v18 temporary
constexpr int vector_bias = 4096;  // puts all of `vector` and `lds` in reach of a 13-bit signed offset
constexpr int vector_offset = int{offsetof(MachineState, vector)} - vector_bias;
constexpr unsigned lds_rows = lds_bytes / (4 * lane_count);

std::string lds_row_address(unsigned row) {
  std::ostringstream text;
  text << "  s_add_u32 s40, s32, " << offsetof(MachineState, lds) + row * 256 << "\n  s_addc_u32 s41, s33, 0\n";
  return text.str();
}

/// Moves what a kernel with scratch gets in s[0:9] to where the rest of the prologue expects it.
void scratch_prologue(std::ostream& text) {
  text << "  s_add_u32 flat_scratch_lo, s6, s9\n"
       << "  s_addc_u32 flat_scratch_hi, s7, 0\n"
       << "  s_add_u32 s44, s0, s9\n"
       << "  s_addc_u32 s45, s1, 0\n"
       << "  s_mov_b64 s[46:47], s[2:3]\n"
       << "  s_mov_b64 s[0:1], s[4:5]\n"
       << "  s_mov_b32 s2, s8\n";
}

void prologue(std::ostream& text, Lds lds) {
  text << "  s_load_dwordx2 s[32:33], s[0:1], 0x0\n"
       << "  v_lshlrev_b32_e32 v16, 2, v0\n"
       << "  s_mul_i32 s2, s2, " << sizeof(MachineState) << "\n"
       << "  s_waitcnt lgkmcnt(0)\n"
       << "  s_add_u32 s32, s32, s2\n"
       << "  s_addc_u32 s33, s33, 0\n"
       << "  s_add_u32 s34, s32, " << vector_bias << "\n"
       << "  s_addc_u32 s35, s33, 0\n";
  for (unsigned row = 0; lds == Lds::loaded_and_stored && row < lds_rows; ++row)
    text << lds_row_address(row) << "  global_load_dword v17, v16, s[40:41]\n"
         << "  s_waitcnt vmcnt(0)\n"
         << "  ds_write_b32 v16, v17 offset:" << row * 256 << "\n";
  text << "  s_load_dwordx8 s[24:31], s[32:33], 0x0\n"
       << "  s_load_dwordx16 s[0:15], s[32:33], 0x20\n"
       << "  s_load_dwordx8 s[16:23], s[32:33], 0x60\n";
  for (unsigned i = 0; i < vector_count; ++i)
    text << "  global_load_dword v" << i << ", v16, s[34:35] offset:" << vector_offset + static_cast<int>(i) * 256
         << "\n";
  text << "  s_waitcnt vmcnt(0) lgkmcnt(0)\n"
       << "  s_mov_b64 vcc, s[28:29]\n"
       << "  s_mov_b32 m0, s30\n"
       << "  s_mov_b64 exec, s[26:27]\n";
}

void epilogue(std::ostream& text, Lds lds) {
  text << "done:\n"
       << "  s_cselect_b32 s36, 1, 0\n"
       << "  s_mov_b64 s[38:39], exec\n"
       << "  s_mov_b64 exec, -1\n"
       << "  s_waitcnt vmcnt(0) lgkmcnt(0)\n";
  for (unsigned i = 0; i < vector_count; ++i)
    text << "  global_store_dword v16, v" << i << ", s[34:35] offset:" << vector_offset + static_cast<int>(i) * 256
         << "\n";
  // The scalars become the lanes of one vector register, in the order of MachineState's first 32 words.
  text << "  v_mov_b32_e32 v17, 0\n"
       << "  v_writelane_b32 v17, s24, 0\n"
       << "  v_writelane_b32 v17, s36, 1\n"
       << "  v_writelane_b32 v17, s38, 2\n"
       << "  v_writelane_b32 v17, s39, 3\n"
       << "  v_writelane_b32 v17, vcc_lo, 4\n"
       << "  v_writelane_b32 v17, vcc_hi, 5\n"
       << "  v_writelane_b32 v17, m0, 6\n";
  for (unsigned i = 0; i < scalar_count; ++i) text << "  v_writelane_b32 v17, s" << i << ", " << 8 + i << "\n";
  for (unsigned row = 0; lds == Lds::loaded_and_stored && row < lds_rows; ++row)
    text << lds_row_address(row) << "  ds_read_b32 v18, v16 offset:" << row * 256 << "\n"
         << "  s_waitcnt lgkmcnt(0)\n"
         << "  global_store_dword v16, v18, s[40:41]\n";
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
  return text.str();
}

}  // namespace softgpu::isa
