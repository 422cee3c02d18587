#include "softgpu/compute/host_code/code_lines.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ELFObjectFile.h>

#include "softgpu/compute/host_code/jit.hpp"

namespace softgpu::compute {
namespace {

using ObjectFile = std::unique_ptr<llvm::object::ObjectFile>;

constexpr std::int64_t instruction_granule = 4;

ObjectFile parse(std::string_view object) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(
      llvm::MemoryBufferRef(llvm::StringRef(object.data(), object.size()), ""));
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return nullptr;
  }
  return std::move(*parsed);
}

struct Code {
  llvm::object::SectionRef section;
  std::uint64_t begin = 0;  ///< in the section
  std::uint64_t bytes = 0;
};

std::optional<Code> find_code(const llvm::object::ObjectFile& file, std::string_view name) {
  for (const llvm::object::ELFSymbolRef symbol : file.symbols()) {
    const auto known_as = llvm::expectedToOptional(symbol.getName());
    const auto section = llvm::expectedToOptional(symbol.getSection());
    const auto value = llvm::expectedToOptional(symbol.getValue());
    if (known_as && *known_as == llvm::StringRef(name.data(), name.size()) && section && value &&
        *section != file.section_end())
      return Code{**section, *value, symbol.getSize()};
  }
  return std::nullopt;
}

/// But for what the linker has filled in: a number of four bytes, and up to three before it, where it has
/// replaced a look-up by what was looked up.
bool is_same(const llvm::object::ObjectFile& file, const Code& code, const WaveCode& running) {
  const auto contents = llvm::expectedToOptional(code.section.getContents());
  if (!contents || code.bytes != running.bytes || code.begin + code.bytes > contents->size()) return false;
  std::vector<bool> is_linked(code.bytes + sizeof(std::uint64_t));
  for (const llvm::object::SectionRef& section : file.sections()) {
    const auto relocated = llvm::expectedToOptional(section.getRelocatedSection());
    if (!relocated || *relocated == file.section_end() || **relocated != code.section) continue;
    for (const llvm::object::RelocationRef& place : section.relocations()) {
      const std::uint64_t at = place.getOffset() - code.begin;
      if (at >= code.bytes) continue;
      constexpr std::uint64_t opcode_bytes = 3;
      const auto first = is_linked.begin() + static_cast<std::ptrdiff_t>(at - std::min(at, opcode_bytes));
      std::fill(first, is_linked.begin() + static_cast<std::ptrdiff_t>(at + sizeof(std::uint32_t)), true);
    }
  }
  const auto* present = reinterpret_cast<const char*>(running.run);
  for (std::uint64_t i = 0; i != code.bytes; ++i)
    if (!is_linked[i] && (*contents)[code.begin + i] != present[i]) return false;
  return true;
}

}  // namespace

CodeLines::CodeLines(llvm::Function& function, const Program& program)
    : function_(function), first_(program.instructions.begin()->first) {
  llvm::Module& module = *function.getParent();
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  llvm::DIBuilder builder(module);
  llvm::DIFile* file = builder.createFile("kernel", "");
  builder.createCompileUnit(llvm::dwarf::DW_LANG_C, file, "softgpu", true, "", 0, "",
                            llvm::DICompileUnit::DebugEmissionKind::LineTablesOnly);
  scope_ = builder.createFunction(file, function.getName(), function.getName(), file, 1,
                                  builder.createSubroutineType(builder.getOrCreateTypeArray({})), 1,
                                  llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  function.setSubprogram(scope_);
  builder.finalize();
}

void CodeLines::begin_instruction(llvm::IRBuilder<>& ir, std::int64_t offset) const {
  const auto line = static_cast<unsigned>((offset - first_) / instruction_granule + 1);
  ir.SetCurrentDebugLocation(llvm::DILocation::get(function_.getContext(), line, 0, scope_));
}

void CodeLines::finish() const {
  for (llvm::Function& other : *function_.getParent())
    if (&other != &function_)
      for (llvm::BasicBlock& block : other)
        for (llvm::Instruction& instruction : block) instruction.setDebugLoc({});
}

std::optional<std::int64_t> instruction_at(const Program& program, std::string_view object, const WaveCode& running,
                                           std::uint64_t host_address) {
  const ObjectFile file = parse(object);
  const auto code = file == nullptr ? std::nullopt : find_code(*file, wave_function_name);
  if (!code || !running.contains(host_address) || !is_same(*file, *code, running)) return std::nullopt;
  const auto lines = llvm::DWARFContext::create(*file);
  const std::uint64_t place = code->begin + (host_address - reinterpret_cast<std::uint64_t>(running.run));
  const std::optional<llvm::DILineInfo> info = lines->getLineInfoForAddress(
      {place, code->section.getIndex()}, {llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue});
  if (!info || info->Line == 0) return std::nullopt;
  const std::int64_t offset =
      program.instructions.begin()->first + (static_cast<std::int64_t>(info->Line) - 1) * instruction_granule;
  return program.instructions.contains(offset) ? std::optional(offset) : std::nullopt;
}

std::uint64_t code_bytes(std::string_view object, std::string_view name) {
  const ObjectFile file = parse(object);
  const auto code = file == nullptr ? std::nullopt : find_code(*file, name);
  return code ? code->bytes : 0;
}

}  // namespace softgpu::compute
