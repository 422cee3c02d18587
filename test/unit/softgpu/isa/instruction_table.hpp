// Every instruction of gfx90a that LLVM knows, found by decoding each opcode of each encoding.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace softgpu::isa {

/// One encoding of an instruction: `v_add_f32_sdwa`.
struct Sample {
  std::string form;  ///< the mnemonic with the encoding's suffix
  std::string text;  ///< as the disassembler prints it
  std::vector<std::byte> code;
};

struct TableEntry {
  std::string format;  ///< of the ISA manual: SOP2, VOP3P
  std::vector<Sample> samples;
};

/// By the mnemonic without suffix.
[[nodiscard]] const std::map<std::string, TableEntry>& instruction_table();

/// Forms that the table lacks, found by filling in random operands for each opcode, with an example each or several.
[[nodiscard]] std::set<std::string> missing_forms();

/// Why the translator refuses the instruction, or nothing if it translates the instruction.
[[nodiscard]] std::optional<std::string> refusal_of(const Sample& sample);

/// The feature that a refused instruction belongs to. Nothing if nobody has named one.
[[nodiscard]] std::optional<std::string> reason_of_refusal(const std::string& mnemonic);

/// The text of docs/isa.md. Throws std::logic_error, with their names, if there is no reason for some refusals.
[[nodiscard]] std::string isa_document();
/// The file in docs/ that holds the text, and the command that writes the file.
[[nodiscard]] std::string isa_document_name();
[[nodiscard]] std::string isa_document_command();

}  // namespace softgpu::isa
