// For LD_PRELOAD: a GPU that computes nothing. Every kernel that a program loads ends with its first instruction.
#include <fastdispatch/module.hpp>

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <dlfcn.h>
#include <elf.h>

namespace fd = fastdispatch;

namespace {

constexpr std::uint32_t s_endpgm = 0xbf810000;  // of gfx9 and gfx10

template <class T>
T read(std::span<const std::byte> bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

// The places where code begins, by the code object's symbols.
void end_kernels(std::span<std::byte> elf) {
  const auto header = read<Elf64_Ehdr>(elf, 0);
  const auto section = [&](std::size_t i) { return read<Elf64_Shdr>(elf, header.e_shoff + i * sizeof(Elf64_Shdr)); };
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr symbols = section(i);
    if (symbols.sh_type != SHT_DYNSYM) continue;
    for (std::size_t offset = 0; offset < symbols.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = read<Elf64_Sym>(elf, symbols.sh_offset + offset);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const Elf64_Shdr code = section(symbol.st_shndx);
      std::memcpy(&elf[code.sh_offset + symbol.st_value - code.sh_addr], &s_endpgm, sizeof s_endpgm);
    }
  }
}

}  // namespace

// The dynamic linker finds this function before the library's.
fd::Module fd::Module::load(fd::Agent agent, std::span<const std::byte> image, std::string_view name,
                            const ModuleOptions& options) {
  constexpr const char* symbol =
      "_ZN12fastdispatch6Module4loadENS_5AgentESt4spanIKSt4byteLm18446744073709551615EESt17basic_string_viewIcSt11char_"
      "traitsIcEERKNS_13ModuleOptionsE";
  using Load = fd::Module (*)(fd::Agent, std::span<const std::byte>, std::string_view, const ModuleOptions&);
  static const auto load = reinterpret_cast<Load>(::dlsym(RTLD_NEXT, symbol));

  // A raw code object, or a bundle of several.
  std::vector<std::byte> changed(image.begin(), image.end());
  const std::string_view text(reinterpret_cast<const char*>(image.data()), image.size());
  constexpr std::string_view magic = "\177ELF\2\1\1\100";  // of AMD's GPUs
  for (std::size_t at = text.find(magic); at != std::string_view::npos; at = text.find(magic, at + 1))
    end_kernels(std::span(changed).subspan(at));
  return load(agent, changed, name, options);
}
