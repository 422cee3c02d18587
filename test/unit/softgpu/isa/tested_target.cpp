#include "tested_target.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <unordered_map>

#include "assembler.hpp"
#include "vector_operand.hpp"

namespace softgpu::isa {
namespace {

compute::Target parse(std::string_view text) {
  const std::size_t dash = text.find('-');
  const compute::Architecture* architecture = compute::Architecture::find(text.substr(0, dash));
  if (architecture == nullptr) throw std::runtime_error("FASTDISPATCH_ISA_TARGET: no such architecture");
  compute::Target target{architecture, architecture->wavefront_size};
  if (dash == std::string_view::npos) return target;
  if (text.substr(dash) != "-wave64") throw std::runtime_error("FASTDISPATCH_ISA_TARGET: only -wave64 may follow");
  target.wavefront_size = 64;
  return target;
}

/// Replaces gfx90a's mnemonics and hints, keeping the suffixes of encodings.
std::string renamed(const std::string& assembly) {
  static const auto names = [] {
    std::unordered_map<std::string, std::string> result;
    for (const auto& [name, gfx90a_name] : compute::renamed_instructions(tested_target().architecture->instructions))
      result.emplace(gfx90a_name, name);
    if (tests_later_cdna()) result.emplace("glc", "sc0");
    return result;
  }();
  std::string result;
  for (std::size_t at = 0; at < assembly.size();) {
    std::size_t end = at;
    while (end < assembly.size() && (std::isalnum(static_cast<unsigned char>(assembly[end])) || assembly[end] == '_'))
      ++end;
    if (end == at) {
      result += assembly[at++];
      continue;
    }
    std::string word = assembly.substr(at, end - at);
    std::string suffix;
    for (const std::string_view each : {"_e32", "_e64", "_dpp", "_sdwa"})
      if (word.ends_with(each)) {
        suffix = each;
        word.resize(word.size() - each.size());
      }
    const auto found = names.find(word);
    result += (found == names.end() ? word : found->second) + suffix;
    at = end;
  }
  return result;
}

void replace(std::string& text, std::string_view part, std::string_view by) {
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
}

/// What RDNA4 does not only name, but write otherwise: counters to wait for, barriers, cache hints, and buffers without
/// a scalar offset.
std::string rewritten_for_rdna4(const std::string& assembly) {
  std::string result;
  for (std::size_t at = 0; at < assembly.size();) {
    const std::size_t end = std::min(assembly.find('\n', at), assembly.size());
    std::string line = assembly.substr(at, end - at);
    at = end + 1;
    if (const std::size_t wait = line.find("s_waitcnt "); wait != std::string::npos)
      line.resize(wait), line += "s_wait_idle";
    if (line.ends_with("s_barrier")) line += "_signal -1\n  s_barrier_wait -1";
    if (line.find("buffer_") != std::string::npos) replace(line, "], 0", "], null");
    replace(line, " glc", line.find("atomic_") != std::string::npos ? " th:TH_ATOMIC_RETURN" : " scope:SCOPE_DEV");
    result += line + "\n";
  }
  if (!assembly.ends_with('\n')) result.pop_back();
  return result;
}

std::string without_label_marks(std::string text) {
  for (std::size_t at = text.find("%="); at != std::string::npos; at = text.find("%=")) text.replace(at, 2, "_0");
  return text;
}

}  // namespace

const compute::Target& tested_target() {
  static const compute::Target target = [] {
    const char* setting = std::getenv("FASTDISPATCH_ISA_TARGET");
    return setting == nullptr ? compute::Target{} : parse(setting);
  }();
  return target;
}

bool tests_later_cdna() {
  using enum compute::ArchitectureFamily::Instructions;
  const auto instructions = tested_target().architecture->instructions;
  return instructions == cdna3 || instructions == cdna4;
}

bool tests_rdna4() {
  return tested_target().architecture->instructions == compute::ArchitectureFamily::Instructions::rdna4;
}

std::string mask_registers(unsigned first) { return registers('s', first, tests_wave32() ? 1 : 2); }

std::optional<std::string> spelled_for_target(const std::string& assembly) {
  if (tests_gfx90a()) return assembly;
  // Newer assemblers take these names of gfx90a for RDNA3's products of either sign, without the signs.
  if (tested_target().architecture->names_register_halves &&
      (assembly.starts_with("v_dot4_i32_i8 ") || assembly.starts_with("v_dot8_i32_i4 ")))
    return std::nullopt;
  if (assembles(without_label_marks(assembly))) return assembly;
  std::string other = renamed(assembly);
  if (tests_rdna4()) other = rewritten_for_rdna4(other);
  if (assembles(without_label_marks(other))) return other;
  return std::nullopt;
}

}  // namespace softgpu::isa
