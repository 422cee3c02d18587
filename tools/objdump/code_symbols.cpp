#include "code_symbols.hpp"

#include <algorithm>
#include <stdexcept>

#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/MemoryBufferRef.h>

namespace {

template <class T>
T value_of(llvm::Expected<T> expected) {
  if (!expected) throw std::runtime_error("LLVM cannot read the code object: " + llvm::toString(expected.takeError()));
  return std::move(*expected);
}

/// Empty where the file has no bytes for it.
std::span<const std::byte> bytes_of(const llvm::object::ELFSymbolRef& symbol, const llvm::object::ObjectFile& file) {
  const auto section = value_of(symbol.getSection());
  if (section == file.section_end() || section->isBSS() || section->isVirtual()) return {};
  const llvm::StringRef contents = value_of(section->getContents());
  const std::uint64_t offset = value_of(symbol.getAddress()) - section->getAddress();
  if (offset > contents.size() || symbol.getSize() > contents.size() - offset) return {};
  return std::as_bytes(std::span(contents.data() + offset, symbol.getSize()));
}

}  // namespace

CodeSymbols::CodeSymbols(std::span<const std::byte> elf) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(elf.data()), elf.size());
  const auto file =
      value_of(llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "code object")));
  const auto& elf_file = llvm::cast<llvm::object::ELFObjectFileBase>(*file);
  const auto read = [&](const llvm::object::ELFSymbolRef& symbol) {
    const bool is_function = symbol.getELFType() == llvm::ELF::STT_FUNC;
    if (!is_function && symbol.getELFType() != llvm::ELF::STT_OBJECT) return;
    CodeSymbol read_symbol{.name = value_of(symbol.getName()).str(),
                           .address = value_of(symbol.getAddress()),
                           .bytes = bytes_of(symbol, *file)};
    (is_function ? functions_ : objects_).push_back(std::move(read_symbol));
  };
  for (const llvm::object::ELFSymbolRef& symbol : elf_file.symbols()) read(symbol);
  if (functions_.empty()) {  // the table of all symbols may have been stripped
    objects_.clear();
    for (const llvm::object::ELFSymbolRef& symbol : elf_file.getDynamicSymbolIterators()) read(symbol);
  }
  std::ranges::sort(functions_, {}, &CodeSymbol::address);
}

std::optional<softgpu::compute::KernelDescriptor> CodeSymbols::descriptor(const std::string& symbol) const {
  using softgpu::compute::KernelDescriptor;
  const auto found = std::ranges::find(objects_, symbol, &CodeSymbol::name);
  if (found == objects_.end() || found->bytes.size() < KernelDescriptor::size) return std::nullopt;
  return KernelDescriptor::parse(found->bytes.first<KernelDescriptor::size>());
}
