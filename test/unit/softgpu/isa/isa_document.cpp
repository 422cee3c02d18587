// docs/isa.md and docs/isa_gfx942.md and the like: the instruction tables for people.
#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "instruction_table.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

struct Section {
  const char* format;
  const char* title;
};

constexpr std::array<Section, 23> sections = {{
    {"SOP1", "SOP1: scalar, one operand"},
    {"SOP2", "SOP2: scalar, two operands"},
    {"SOPC", "SOPC: scalar comparisons"},
    {"SOPK", "SOPK: scalar, with a 16-bit constant"},
    {"SOPP", "SOPP: control of the program"},
    {"SMEM", "SMEM: scalar memory"},
    {"VOP1", "VOP1: vector, one operand"},
    {"VOP2", "VOP2: vector, two operands"},
    {"VOPC", "VOPC: vector comparisons"},
    {"VOP3", "VOP3: vector, three operands"},
    {"VOP3P", "VOP3P: packed and mixed precision, dot products"},
    {"VOPD", "VOPD: two instructions in one"},
    {"VOP3P-MAI", "VOP3P-MAI: matrices and accumulation registers"},
    {"DS", "DS: LDS"},
    {"FLAT", "FLAT: memory by flat addresses"},
    {"GLOBAL", "GLOBAL: device and host memory"},
    {"SCRATCH", "SCRATCH: private memory"},
    {"MUBUF", "MUBUF: buffers"},
    {"MTBUF", "MTBUF: typed buffers"},
    {"MIMG", "MIMG: images"},
    {"VBUFFER", "VBUFFER: buffers"},
    {"VIMAGE", "VIMAGE: images"},
    {"VSAMPLE", "VSAMPLE: images with a sampler"},
}};

/// e32, sdwa; nothing for instructions that have one form only.
std::string suffix(const std::string& form, const std::string& mnemonic) {
  return form.size() > mnemonic.size() ? form.substr(mnemonic.size() + 1) : "";
}

void append(std::string& list, const std::string& item) {
  if (!list.empty() && !item.empty()) list += ", ";
  list += item;
}

struct Row {
  std::string forms;
  std::string state;
  bool is_supported = false;
};

Row row_of(const std::string& mnemonic, const TableEntry& entry, std::string& without_reason) {
  Row row;
  std::string refused;
  std::size_t refused_count = 0;
  for (const Sample& sample : entry.samples) {
    const std::string form = suffix(sample.form, mnemonic);
    append(row.forms, form);
    if (!refusal_of(sample)) continue;
    append(refused, form);
    ++refused_count;
  }
  row.is_supported = refused_count < entry.samples.size();
  if (row.is_supported) {
    row.state = refused_count == 0 ? "supported" : "supported; refused: " + refused;
  } else {
    const std::optional<std::string> reason = reason_of_refusal(mnemonic);
    if (!reason) append(without_reason, mnemonic);
    row.state = "refused: " + reason.value_or("");
  }
  return row;
}

}  // namespace

std::string isa_document_name() {
  return tests_gfx90a() ? "isa.md" : "isa_" + std::string(tested_target().architecture->name) + ".md";
}

std::string isa_document_command() {
  const std::string target =
      tests_gfx90a() ? "" : "FASTDISPATCH_ISA_TARGET=" + std::string(tested_target().architecture->name) + " ";
  return target + "softgpu_isa_table > docs/" + isa_document_name();
}

std::string isa_document() {
  std::ostringstream tables;
  std::string without_reason;
  std::size_t total = 0;
  std::size_t supported = 0;
  for (const Section& section : sections) {
    std::ostringstream rows;
    std::size_t count = 0;
    std::size_t supported_here = 0;
    for (const auto& [mnemonic, entry] : instruction_table()) {
      if (entry.format != section.format) continue;
      const Row row = row_of(mnemonic, entry, without_reason);
      rows << "| `" << mnemonic << "` | " << row.forms << (row.forms.empty() ? "" : " ") << "| " << row.state << " |\n";
      ++count;
      if (row.is_supported) ++supported_here;
    }
    if (count == 0) continue;
    tables << "\n## " << section.title << "\n\n"
           << supported_here << " of " << count << " are supported.\n\n| instruction | forms | state |\n|---|---|---|\n"
           << rows.str();
    total += count;
    supported += supported_here;
  }

  if (!without_reason.empty()) throw std::logic_error("nothing says why these are refused: " + without_reason);

  const std::string name(tested_target().architecture->name);
  std::ostringstream text;
  text << "# The soft GPU's instruction set: " << name
       << "\n\n"
          "Every instruction that LLVM's disassembler and assembler know for "
       << name
       << ", and whether the soft GPU executes\n"
          "it: "
       << supported << " of " << total
       << " are supported. A kernel with a refused one does not start: the queue reports an illegal\n"
          "instruction, and standard error its name. A supported one may still be refused with an operand or a "
          "modifier\n"
          "that compilers do not emit.\n\n";
  if (tests_rdna()) text << "Exports and the interpolation of parameters are left out.\n\n";
  text << "Written by `" << isa_document_command() << "`; a test translates a sample of every form and compares.\n"
       << tables.str();
  return text.str();
}

}  // namespace softgpu::isa
