#include "softgpu/kernel_interface/redirect.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::kernel_interface {
namespace {

using command_processor::at_address;

constexpr std::uint64_t page = 4096;

/// What a library's dynamic section says of its relocations. The dynamic linker has made the addresses absolute.
struct Relocations {
  explicit Relocations(const link_map& library) : base(library.l_addr) {
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_STRTAB:
        strings = at_address<const char>(entry->d_un.d_ptr);
        break;
      case DT_SYMTAB:
        symbols = at_address<const ElfW(Sym)>(entry->d_un.d_ptr);
        break;
      case DT_JMPREL:
        calls = at_address<const ElfW(Rela)>(entry->d_un.d_ptr);
        break;
      case DT_PLTRELSZ:
        call_count = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_RELA:
        others = at_address<const ElfW(Rela)>(entry->d_un.d_ptr);
        break;
      case DT_RELASZ:
        other_count = entry->d_un.d_val / sizeof(ElfW(Rela));
        break;
      default:
        break;
      }
  }

  ElfW(Addr) base;
  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * calls = nullptr;  ///< of the procedure linkage table
  std::size_t call_count = 0;
  const ElfW(Rela) * others = nullptr;
  std::size_t other_count = 0;
};

/// The dynamic linker may have made the page read-only (RELRO). It stays writable: others may be writing to it.
bool write_slot(std::uint64_t slot, void* function) {
  if (mprotect(at_address<void>(slot / page * page), page, PROT_READ | PROT_WRITE) != 0) return false;
  __atomic_store_n(at_address<void*>(slot), function, __ATOMIC_RELEASE);
  return true;
}

}  // namespace

bool redirect(const void* code, std::span<const Redirection> redirections) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return false;
  const Relocations library(*map);
  if (library.strings == nullptr || library.symbols == nullptr) return false;

  bool is_written = true;
  const auto look_at = [&](const ElfW(Rela) & relocation) {
    const auto type = ELF64_R_TYPE(relocation.r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) return;
    const std::string_view name = library.strings + library.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
    const auto found = std::ranges::find(redirections, name, &Redirection::name);
    if (found == redirections.end()) return;
    is_written = write_slot(library.base + relocation.r_offset, found->function) && is_written;
  };
  for (std::size_t i = 0; i != library.call_count; ++i) look_at(library.calls[i]);
  for (std::size_t i = 0; i != library.other_count; ++i) look_at(library.others[i]);
  return is_written;
}

}  // namespace softgpu::kernel_interface
