#include "dispatch/code_object/elf_layout.hpp"

#include <elf.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace fastdispatch::detail {
namespace {

constexpr std::uint64_t largest_image = std::uint64_t{1} << 32U;  // in memory; far more than any compiler makes

class LayoutCheck {
public:
  explicit LayoutCheck(const ByteReader& elf) : elf_(elf), header_(elf.read<Elf64_Ehdr>(0, "ELF header")) {
    segments_ = table<Elf64_Phdr>(header_.e_phoff, header_.e_phentsize, header_.e_phnum, "program header");
    sections_ = table<Elf64_Shdr>(header_.e_shoff, header_.e_shentsize, header_.e_shnum, "section header");
  }

  void run() const {
    check_segments();
    for (std::size_t i = 0; i < sections_.size(); ++i) check_section(i);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (sections_[i].sh_type == SHT_SYMTAB || sections_[i].sh_type == SHT_DYNSYM) check_symbols(i);
      if (sections_[i].sh_type == SHT_RELA) check_relocations(i);
    }
  }

private:
  template <class Entry>
  [[nodiscard]] std::vector<Entry> table(std::uint64_t offset, std::uint64_t entry_size, std::uint64_t count,
                                         const char* what) const {
    if (count != 0 && entry_size != sizeof(Entry)) elf_.fail(what, offset, "the entries have a wrong size");
    static_cast<void>(elf_.bytes(offset, count * sizeof(Entry), what));
    std::vector<Entry> entries;
    for (std::uint64_t i = 0; i < count; ++i) entries.push_back(elf_.read<Entry>(offset + i * sizeof(Entry), what));
    return entries;
  }

  [[noreturn]] void fail_segment(std::size_t i, std::string_view why) const {
    elf_.fail("program header", header_.e_phoff + i * sizeof(Elf64_Phdr), why);
  }
  [[noreturn]] void fail_section(std::size_t i, std::string_view why) const {
    elf_.fail("section header", header_.e_shoff + i * sizeof(Elf64_Shdr), why);
  }

  void check_segments() const {
    std::uint64_t end = 0;
    bool any = false;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
      const Elf64_Phdr& segment = segments_[i];
      static_cast<void>(elf_.bytes(segment.p_offset, segment.p_filesz, "segment"));
      if (segment.p_type != PT_LOAD) continue;
      if (segment.p_memsz < segment.p_filesz) fail_segment(i, "the segment is smaller than its contents");
      if (segment.p_vaddr > largest_image || segment.p_memsz > largest_image) fail_segment(i, "it is too large");
      if (segment.p_vaddr < end) fail_segment(i, "the segment overlaps the one before");
      if (!std::has_single_bit(segment.p_align)) fail_segment(i, "the alignment is no power of two");
      if ((segment.p_vaddr - segment.p_offset) % segment.p_align != 0) fail_segment(i, "the address is not aligned");
      end = segment.p_vaddr + segment.p_memsz;
      any = true;
    }
    if (!any) elf_.fail("ELF header", 0, "there is no segment to load");
  }

  void check_section(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    if (section.sh_type == SHT_NULL) return;
    if (section.sh_type >= SHT_NUM && (section.sh_type < SHT_LOOS || section.sh_type > SHT_HIPROC)) {
      fail_section(i, "there is no such type of section");
    }
    check_name(header_.e_shstrndx, section.sh_name, i);
    if (section.sh_type == SHT_NOBITS) return;
    static_cast<void>(elf_.bytes(section.sh_offset, section.sh_size, "section"));
    if ((section.sh_flags & SHF_ALLOC) != 0 && !loaded(section.sh_addr, section.sh_size)) {
      fail_section(i, "the section is not in a loaded segment");
    }
  }

  // Checks that `name` is a string of the string table in section `strings`; `i` is the section that names it.
  void check_name(std::uint64_t strings, std::uint64_t name, std::size_t i) const {
    if (strings >= sections_.size() || sections_[strings].sh_type != SHT_STRTAB) {
      fail_section(i, "its names are in no string table");
    }
    const Elf64_Shdr& table = sections_[strings];
    const auto bytes = elf_.bytes(table.sh_offset, table.sh_size, "string table");
    if (name >= bytes.size() || bytes.back() != std::byte{0}) fail_section(i, "a name is not in its string table");
  }

  void check_symbols(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    const auto symbols = entries<Elf64_Sym>(i);
    for (const Elf64_Sym& symbol : symbols) {
      check_name(section.sh_link, symbol.st_name, i);
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
      if (symbol.st_shndx >= sections_.size()) fail_section(i, "a symbol is in a section that there is not");
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (type != STT_SECTION && type != STT_FILE && !loaded(symbol.st_value, symbol.st_size)) {
        fail_section(i, "a symbol is not in a loaded segment");
      }
    }
  }

  void check_relocations(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    if (section.sh_link >= sections_.size()) fail_section(i, "its relocations have no symbol table");
    const std::size_t symbols = sections_[section.sh_link].sh_size / sizeof(Elf64_Sym);
    for (const Elf64_Rela& relocation : entries<Elf64_Rela>(i)) {
      if (ELF64_R_SYM(relocation.r_info) >= symbols) fail_section(i, "a relocation has no symbol");
      if (!loaded(relocation.r_offset, sizeof(std::uint32_t))) {
        fail_section(i, "a relocation is not in a loaded segment");
      }
    }
  }

  template <class Entry>
  [[nodiscard]] std::vector<Entry> entries(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    if (section.sh_size % sizeof(Entry) != 0) fail_section(i, "its size is no multiple of its entries'");
    return table<Entry>(section.sh_offset, section.sh_entsize, section.sh_size / sizeof(Entry), "section");
  }

  // An end counts as inside: linkers put symbols there.
  [[nodiscard]] bool loaded(std::uint64_t address, std::uint64_t size) const {
    return std::any_of(segments_.begin(), segments_.end(), [&](const Elf64_Phdr& segment) {
      return segment.p_type == PT_LOAD && address >= segment.p_vaddr && size <= segment.p_memsz &&
             address - segment.p_vaddr <= segment.p_memsz - size;
    });
  }

  const ByteReader& elf_;
  Elf64_Ehdr header_;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
};

}  // namespace

void check_elf_layout(const ByteReader& elf) { LayoutCheck(elf).run(); }

}  // namespace fastdispatch::detail
