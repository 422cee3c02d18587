#include "machine_code.hpp"

#include "code_symbols.hpp"
#include "source_text.hpp"

#include <algorithm>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/demangle.hpp"
#include "dispatch/code_object/target_id.hpp"
#include "softgpu/compute/execution/kernel.hpp"
#include "softgpu/compute/instruction_set/architecture.hpp"
#include "softgpu/compute/instruction_set/decoder.hpp"
#include "softgpu/compute/program/line_table.hpp"

namespace compute = softgpu::compute;

struct MachineCode::State {
  CodeSymbols symbols;
  compute::LineTable lines;
  std::string processor;
  const compute::Architecture* architecture;  ///< the processor's, or of generic code one that runs it; may be null
};

namespace {

/// Null where it is not known.
const compute::Architecture* architecture_of(std::string_view processor) {
  const compute::Architecture* architecture = compute::Architecture::find(processor);
  for (const std::string_view one : fastdispatch::detail::processors_of_generic(processor)) {
    if (architecture == nullptr) architecture = compute::Architecture::find(one);
  }
  return architecture;
}

/// What a relative branch goes to, from the beginning of its function; nothing for other instructions.
std::optional<std::int64_t> target_of(const compute::Instruction& instruction) {
  const std::string& name = instruction.mnemonic;
  const bool branches = name == "s_branch" || name.starts_with("s_cbranch_") || name == "s_call_b64";
  if (!branches || instruction.operands.empty()) return std::nullopt;
  const compute::Operand& words = instruction.operands.back();
  if (words.kind != compute::Operand::Kind::integer) return std::nullopt;
  return instruction.branch_target(words);
}

/// A function's code, instruction after instruction.
class FunctionListing {
public:
  FunctionListing(const CodeSymbol& function, const compute::LineTable& lines, SourceText& text)
      : function_(function), lines_(lines), text_(text) {}

  [[nodiscard]] Document list(const compute::Disassembler& disassembler) {
    std::size_t offset = 0;
    while (offset < function_.bytes.size()) offset += add(disassembler, offset);
    for (Document& row : rows_) {
      if (!has_lines_) row.erase("source");
      if (!has_text_) row.erase("source_text");
    }
    return std::move(rows_);
  }

private:
  /// Returns its size.
  std::size_t add(const compute::Disassembler& disassembler, std::size_t offset) {
    const std::span<const std::byte> code = function_.bytes.subspan(offset);
    const auto instruction = disassembler.decode(code, static_cast<std::int64_t>(offset));
    Document row;
    row["address"] = fmt::format("{:#x}", function_.address + offset);
    row["instruction"] = instruction ? instruction->text : no_instruction(code);
    const auto target = instruction ? target_of(*instruction) : std::nullopt;
    row["target"] = target ? fmt::format("{:#x}", function_.address + static_cast<std::uint64_t>(*target)) : "";
    const std::string line = new_line(function_.address + offset);
    row["source"] = line;
    row["source_text"] = line.empty() ? "" : source_text(function_.address + offset);
    rows_.push_back(std::move(row));
    return instruction ? instruction->size : std::min<std::size_t>(code.size(), sizeof(std::uint32_t));
  }

  /// Only where it is another line than before.
  std::string new_line(std::uint64_t address) {
    std::string line = lines_.line_of(address);
    has_lines_ = has_lines_ || !line.empty();
    if (line == last_line_) return "";
    last_line_ = line;
    return line;
  }

  std::string source_text(std::uint64_t address) {
    const auto line = lines_.source_of(address);
    std::string text = line ? text_.line(line->file, line->number) : "";
    has_text_ = has_text_ || !text.empty();
    return text;
  }

  static std::string no_instruction(std::span<const std::byte> code) {
    std::string text = ".byte";
    for (const std::byte byte : code.first(std::min<std::size_t>(code.size(), sizeof(std::uint32_t))))
      text += fmt::format(" {:#04x}", std::to_integer<unsigned>(byte));
    return text;
  }

  const CodeSymbol& function_;
  const compute::LineTable& lines_;
  SourceText& text_;
  Document rows_ = Document::array();
  std::string last_line_;
  bool has_lines_ = false;
  bool has_text_ = false;
};

}  // namespace

bool knows_machine_code() { return true; }

MachineCode::MachineCode(std::span<const std::byte> elf, std::string_view processor)
    : state_(new State{.symbols = CodeSymbols(elf),
                       .lines = compute::LineTable(elf),
                       .processor = std::string(processor),
                       .architecture = architecture_of(processor)}) {}
MachineCode::~MachineCode() = default;

Document MachineCode::disassembly(const std::optional<std::string>& kernel) const {
  if (state_->architecture == nullptr)
    throw std::runtime_error(fmt::format("the instructions of {} are not known here", state_->processor));
  Document functions = Document::array();
  SourceText text;
  for (const CodeSymbol& function : state_->symbols.functions()) {
    if (kernel && function.name != *kernel) continue;
    // A function that is no kernel is compiled for the wavefronts of the kernels that call it.
    const auto descriptor = state_->symbols.descriptor(function.name + ".kd");
    const compute::Target target = descriptor
                                       ? descriptor->target(*state_->architecture)
                                       : compute::Target{state_->architecture, state_->architecture->wavefront_size};
    Document document;
    document["name"] = fastdispatch::detail::demangle(function.name);
    document["bytes"] = function.bytes.size();
    document["instructions"] = FunctionListing(function, state_->lines, text).list(compute::Disassembler(target));
    functions.push_back(std::move(document));
  }
  return functions;
}
