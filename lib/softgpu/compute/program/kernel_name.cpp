#include "softgpu/compute/program/kernel_name.hpp"

#include <elf.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <type_traits>
#include <vector>

#include <llvm/Demangle/Demangle.h>

namespace softgpu::compute {
namespace {

constexpr std::uint64_t page = 4096;
constexpr unsigned most_pages = 4096;
constexpr std::size_t most_symbols = 65536;
constexpr std::size_t longest_name = 4096;
constexpr unsigned most_segments = 64;
constexpr unsigned most_dynamic_entries = 256;

/// Whether all of it could be read. Anything may be there, or nothing.
bool read(std::uint64_t address, void* destination, std::size_t size) {
  const iovec local = {destination, size};
  const iovec remote = {reinterpret_cast<void*>(address), size};  // NOLINT(performance-no-int-to-ptr)
  return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(size);
}

template <class T>
std::optional<T> read(std::uint64_t address) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  return read(address, &value, sizeof value) ? std::optional(value) : std::nullopt;
}

bool is_code_object(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_machine == EM_AMDGPU && header.e_phentsize == sizeof(Elf64_Phdr) && header.e_phnum <= most_segments;
}

/// Of the code object that has been loaded before `address`, not far from it.
std::optional<std::uint64_t> find_code_object(std::uint64_t address) {
  std::uint64_t at = address / page * page;
  for (unsigned i = 0; i < most_pages && at != 0; ++i, at -= page) {
    const auto header = read<Elf64_Ehdr>(at);
    if (!header) return std::nullopt;
    if (is_code_object(*header)) return at;
  }
  return std::nullopt;
}

/// Where the dynamic section says that its tables are. The loader leaves these addresses as the linker made them.
struct DynamicTables {
  std::uint64_t symbols = 0;
  std::uint64_t strings = 0;
  std::uint64_t hash = 0;
};

std::optional<DynamicTables> find_tables(std::uint64_t base) {
  const auto header = read<Elf64_Ehdr>(base);
  if (!header) return std::nullopt;
  std::vector<Elf64_Phdr> segments(header->e_phnum);
  if (!read(base + header->e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) return std::nullopt;
  const auto dynamic = std::ranges::find(segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == segments.end()) return std::nullopt;
  DynamicTables tables;
  for (unsigned i = 0; i < most_dynamic_entries; ++i) {
    const auto entry = read<Elf64_Dyn>(base + dynamic->p_vaddr + i * sizeof(Elf64_Dyn));
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_SYMTAB) tables.symbols = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) tables.strings = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_HASH) tables.hash = base + entry->d_un.d_ptr;
  }
  if (tables.symbols == 0 || tables.strings == 0 || tables.hash == 0) return std::nullopt;
  return tables;
}

std::string name_at(std::uint64_t address) {
  std::string name;
  while (name.size() < longest_name) {
    const auto character = read<char>(address + name.size());
    if (!character || *character == '\0') break;
    name += *character;
  }
  return name;
}

}  // namespace

std::string kernel_name(std::uint64_t kernel_object) {
  if (kernel_object == 0) return {};
  const auto base = find_code_object(kernel_object);
  const auto tables = base ? find_tables(*base) : std::nullopt;
  if (!tables) return {};
  const auto counts = read<std::array<std::uint32_t, 2>>(tables->hash);  // of buckets, and of symbols
  if (!counts) return {};
  std::vector<Elf64_Sym> symbols(std::min<std::size_t>((*counts)[1], most_symbols));
  if (!read(tables->symbols, symbols.data(), symbols.size() * sizeof(Elf64_Sym))) return {};
  const auto symbol = std::ranges::find(symbols, kernel_object - *base, &Elf64_Sym::st_value);
  if (symbol == symbols.end()) return {};
  std::string name = name_at(tables->strings + symbol->st_name);
  constexpr std::string_view suffix = ".kd";
  if (!name.ends_with(suffix)) return {};
  name.resize(name.size() - suffix.size());
  // What a message repeats is to be one line of text.
  if (std::ranges::any_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; })) return {};
  return llvm::demangle(name);
}

}  // namespace softgpu::compute
