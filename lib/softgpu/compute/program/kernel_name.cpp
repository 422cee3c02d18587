#include "softgpu/compute/program/kernel_name.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include <llvm/BinaryFormat/ELF.h>
#include <llvm/Demangle/Demangle.h>

#include "softgpu/compute/program/loaded_code_object.hpp"

namespace softgpu::compute {
namespace {

namespace ELF = llvm::ELF;

constexpr std::size_t most_symbols = 65536;
constexpr std::size_t longest_name = 4096;
constexpr unsigned most_dynamic_entries = 256;

/// Where the dynamic section says that its tables are. The loader leaves these addresses as the linker made them.
struct DynamicTables {
  std::uint64_t symbols = 0;
  std::uint64_t strings = 0;
  std::uint64_t hash = 0;
};

std::optional<DynamicTables> find_tables(std::uint64_t base) {
  const auto header = copy_memory<ELF::Elf64_Ehdr>(base);
  if (!header) return std::nullopt;
  std::vector<ELF::Elf64_Phdr> segments(header->e_phnum);
  if (!copy_memory(base + header->e_phoff, segments.data(), segments.size() * sizeof(ELF::Elf64_Phdr)))
    return std::nullopt;
  const auto dynamic = std::ranges::find(segments, ELF::Elf64_Word{ELF::PT_DYNAMIC}, &ELF::Elf64_Phdr::p_type);
  if (dynamic == segments.end()) return std::nullopt;
  DynamicTables tables;
  for (unsigned i = 0; i < most_dynamic_entries; ++i) {
    const auto entry = copy_memory<ELF::Elf64_Dyn>(base + dynamic->p_vaddr + i * sizeof(ELF::Elf64_Dyn));
    if (!entry || entry->d_tag == ELF::DT_NULL) break;
    if (entry->d_tag == ELF::DT_SYMTAB) tables.symbols = base + entry->d_un.d_ptr;
    if (entry->d_tag == ELF::DT_STRTAB) tables.strings = base + entry->d_un.d_ptr;
    if (entry->d_tag == ELF::DT_HASH) tables.hash = base + entry->d_un.d_ptr;
  }
  if (tables.symbols == 0 || tables.strings == 0 || tables.hash == 0) return std::nullopt;
  return tables;
}

}  // namespace

std::string kernel_name(std::uint64_t kernel_object) {
  if (kernel_object == 0) return {};
  const auto base = find_code_object(kernel_object);
  const auto tables = base ? find_tables(*base) : std::nullopt;
  if (!tables) return {};
  const auto counts = copy_memory<std::array<std::uint32_t, 2>>(tables->hash);  // of buckets, and of symbols
  if (!counts) return {};
  std::vector<ELF::Elf64_Sym> symbols(std::min<std::size_t>((*counts)[1], most_symbols));
  if (!copy_memory(tables->symbols, symbols.data(), symbols.size() * sizeof(ELF::Elf64_Sym))) return {};
  const auto symbol = std::ranges::find(symbols, kernel_object - *base, &ELF::Elf64_Sym::st_value);
  if (symbol == symbols.end()) return {};
  std::string name = copy_text(tables->strings + symbol->st_name, longest_name);
  constexpr std::string_view suffix = ".kd";
  if (!name.ends_with(suffix)) return {};
  name.resize(name.size() - suffix.size());
  // What a message repeats is to be one line of text.
  if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; })) return {};
  return llvm::demangle(name);
}

}  // namespace softgpu::compute
