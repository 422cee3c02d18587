#include "softgpu/compute/program/line_table.hpp"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBuffer.h>

namespace softgpu::compute {
namespace {

using FileNames = llvm::DILineInfoSpecifier::FileLineInfoKind;

llvm::object::SectionedAddress anywhere(std::uint64_t address) {
  return {address, llvm::object::SectionedAddress::UndefSection};
}

bool is_known(const llvm::DILineInfo& line) { return line.Line != 0 && line.FileName != llvm::DILineInfo::BadString; }

std::string text_of(const llvm::DILineInfo& line) {
  if (!is_known(line)) return {};
  return line.FileName + ":" + std::to_string(line.Line);
}

}  // namespace

struct LineTable::State {
  std::unique_ptr<llvm::object::ObjectFile> file;
  std::unique_ptr<llvm::DWARFContext> lines;
};

LineTable::LineTable(std::span<const std::byte> elf) : state_(std::make_unique<State>()) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(elf.data()), elf.size());
  auto file = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "code object"));
  if (!file) {
    llvm::consumeError(file.takeError());
    return;
  }
  state_->file = std::move(*file);
  state_->lines = llvm::DWARFContext::create(*state_->file);
}

LineTable::~LineTable() = default;

std::string LineTable::line_of(std::uint64_t address) const {
  if (state_->lines == nullptr) return {};
  const llvm::DIInliningInfo frames =
      state_->lines->getInliningInfoForAddress(anywhere(address), {FileNames::RawValue});
  if (frames.getNumberOfFrames() == 0) return {};
  std::string text = text_of(frames.getFrame(0));
  if (text.empty() || frames.getNumberOfFrames() == 1) return text;
  const std::string outer = text_of(frames.getFrame(frames.getNumberOfFrames() - 1));
  return outer.empty() ? text : text + ", inlined into " + outer;
}

std::optional<SourceLine> LineTable::source_of(std::uint64_t address) const {
  if (state_->lines == nullptr) return std::nullopt;
  const std::optional<llvm::DILineInfo> line =  // as it is from LLVM 21 on
      state_->lines->getLineInfoForAddress(anywhere(address), {FileNames::AbsoluteFilePath});
  if (!line || !is_known(*line)) return std::nullopt;
  return SourceLine{.file = line->FileName, .number = line->Line};
}

}  // namespace softgpu::compute
