#include "softgpu/thunk/caller.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include "softgpu/command_processor/device_access.hpp"

namespace softgpu::thunk {
namespace {

/// The tables that a dynamic section points to; the dynamic linker has made their addresses absolute.
struct DynamicTables {
  explicit DynamicTables(const link_map& library) {
    using command_processor::at_address;
    for (const ElfW(Dyn)* entry = library.l_ld; entry->d_tag != DT_NULL; ++entry) switch (entry->d_tag) {
      case DT_STRTAB:
        strings = at_address<const char>(entry->d_un.d_ptr);
        break;
      case DT_SYMTAB:
        symbols = at_address<const ElfW(Sym)>(entry->d_un.d_ptr);
        break;
      case DT_HASH:
        hash = at_address<const std::uint32_t>(entry->d_un.d_ptr);
        break;
      case DT_GNU_HASH:
        gnu_hash = at_address<const std::uint32_t>(entry->d_un.d_ptr);
        break;
      case DT_SONAME:
        soname = entry->d_un.d_val;
        break;
      default:
        break;
      }
  }

  /// How many symbols precede the first exported one; the imports are among them. The GNU hash table begins with its
  /// number of buckets and the index of its first symbol; the older table has the number of all symbols.
  [[nodiscard]] std::uint32_t import_limit() const {
    if (gnu_hash != nullptr) return gnu_hash[1];
    return hash != nullptr ? hash[1] : 0;
  }

  const char* strings = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const std::uint32_t* hash = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  std::optional<std::uint64_t> soname;
};

}  // namespace

std::optional<LoadedLibrary> library_of(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || map == nullptr) return {};
  const DynamicTables tables(*map);
  if (tables.strings == nullptr || tables.symbols == nullptr) return {};

  LoadedLibrary library;
  std::error_code unresolved;
  const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, unresolved);
  library.path = unresolved ? std::string(info.dli_fname) : real.string();
  if (tables.soname) library.soname = tables.strings + *tables.soname;
  for (std::uint32_t index = 1; index < tables.import_limit(); ++index) {
    const ElfW(Sym)& symbol = tables.symbols[index];
    const std::string_view name = tables.strings + symbol.st_name;
    if (symbol.st_shndx == SHN_UNDEF && name.starts_with("hsaKmt")) library.thunk_imports.emplace_back(name);
  }
  return library;
}

}  // namespace softgpu::thunk
