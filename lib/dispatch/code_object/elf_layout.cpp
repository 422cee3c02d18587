#include "dispatch/code_object/elf_layout.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>
#include <vector>

namespace fastdispatch::detail {
namespace {

constexpr std::uint64_t largest_image = std::uint64_t{1} << 32U;  // in memory; far more than any compiler makes

// ROCr looks for these by their names.
constexpr std::array<std::pair<std::string_view, Elf64_Word>, 5> known_sections = {{{".note", SHT_NOTE},
                                                                                    {".strtab", SHT_STRTAB},
                                                                                    {".shstrtab", SHT_STRTAB},
                                                                                    {".symtab", SHT_SYMTAB},
                                                                                    {".dynsym", SHT_DYNSYM}}};

class LayoutCheck {
public:
  explicit LayoutCheck(const ByteReader& elf) : elf_(elf), header_(elf.read<Elf64_Ehdr>(0, "ELF header")) {
    segments_ = table<Elf64_Phdr>(header_.e_phoff, header_.e_phentsize, header_.e_phnum, "program header");
    sections_ = table<Elf64_Shdr>(header_.e_shoff, header_.e_shentsize, header_.e_shnum, "section header");
  }

  void run() const {
    check_segments();
    if (header_.e_shstrndx >= sections_.size() || sections_[header_.e_shstrndx].sh_type != SHT_STRTAB)
      elf_.fail("ELF header", 0, "the sections' names are in no string table");
    for (std::size_t i = 0; i < sections_.size(); ++i) check_section(i);
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      if (is_symbol_table(sections_[i])) check_symbols(i);
      if (sections_[i].sh_type == SHT_RELA) check_relocations(i);
      if (sections_[i].sh_type == SHT_NOTE) check_notes(i);
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
    if (section.sh_type == SHT_NULL) {
      if (i != 0) fail_section(i, "the section has no type");  // ROCr has nothing for symbols there
      return;
    }
    if (section.sh_type >= SHT_NUM && (section.sh_type < SHT_LOOS || section.sh_type > SHT_HIPROC)) {
      fail_section(i, "there is no such type of section");
    }
    const std::string_view name = check_name(header_.e_shstrndx, section.sh_name, i);
    for (const auto& [known, type] : known_sections)
      if (name == known && section.sh_type != type) fail_section(i, "its type is not that of sections of its name");
    if (section.sh_type == SHT_NOBITS) return;
    static_cast<void>(elf_.bytes(section.sh_offset, section.sh_size, "section"));
    if ((section.sh_flags & SHF_ALLOC) != 0 && !loaded(section.sh_addr, section.sh_size)) {
      fail_section(i, "the section is not in a loaded segment");
    }
  }

  // Notes: a header, a name and a description, each padded to four bytes.
  void check_notes(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    const auto padded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    for (std::uint64_t at = 0; at < section.sh_size;) {
      if (section.sh_size - at < sizeof(Elf64_Nhdr)) fail_section(i, "a note is cut off");
      const auto note = elf_.read<Elf64_Nhdr>(section.sh_offset + at, "note");
      at += sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
      if (at > section.sh_size) fail_section(i, "a note is larger than its section");
    }
  }

  // The string `name` of the string table in section `strings`; `i` is the section that names it.
  std::string_view check_name(std::uint64_t strings, std::uint64_t name, std::size_t i) const {
    if (strings >= sections_.size() || sections_[strings].sh_type != SHT_STRTAB) {
      fail_section(i, "its names are in no string table");
    }
    const Elf64_Shdr& table = sections_[strings];
    const auto bytes = elf_.bytes(table.sh_offset, table.sh_size, "string table");
    if (name >= bytes.size() || bytes.back() != std::byte{0}) fail_section(i, "a name is not in its string table");
    return reinterpret_cast<const char*>(bytes.data() + name);
  }

  void check_symbols(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    const auto symbols = entries<Elf64_Sym>(i);
    for (const Elf64_Sym& symbol : symbols) {
      const std::string_view name = check_name(section.sh_link, symbol.st_name, i);
      const auto type = ELF64_ST_TYPE(symbol.st_info);
      if (symbol.st_shndx == SHN_UNDEF && type != STT_NOTYPE) fail_section(i, "a symbol is not defined");
      if (symbol.st_shndx == SHN_ABS && type != STT_NOTYPE && type != STT_FILE)
        fail_section(i, "a symbol is in no section");  // ROCr asks the section of an object or function where it is
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
      if (symbol.st_shndx >= sections_.size()) fail_section(i, "a symbol is in a section that there is not");
      if (sections_[symbol.st_shndx].sh_addralign >= UINT32_MAX)  // ROCr asserts that it is less
        fail_section(symbol.st_shndx, "its alignment is 4 GiB or more");
      if (type != STT_SECTION && type != STT_FILE && !loaded(symbol.st_value, symbol.st_size)) {
        fail_section(i, "a symbol is not in a loaded segment");
      }
      if (type == STT_OBJECT && name.ends_with(".kd") && !has_contents(sections_[symbol.st_shndx], symbol))
        fail_section(i, "a kernel descriptor is not in its section");  // ROCr reads it there
    }
  }

  void check_relocations(std::size_t i) const {
    const Elf64_Shdr& section = sections_[i];
    if (section.sh_link >= sections_.size() || !is_symbol_table(sections_[section.sh_link]))
      fail_section(i, "its relocations have no symbol table");
    if (section.sh_info >= sections_.size()) fail_section(i, "its relocations are of a section that there is not");
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

  [[nodiscard]] static bool is_symbol_table(const Elf64_Shdr& section) {
    return section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
  }

  [[nodiscard]] static bool has_contents(const Elf64_Shdr& section, const Elf64_Sym& symbol) {
    return section.sh_type != SHT_NOBITS && symbol.st_value >= section.sh_addr && symbol.st_size <= section.sh_size &&
           symbol.st_value - section.sh_addr <= section.sh_size - symbol.st_size;
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
