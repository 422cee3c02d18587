#include "softgpu/compute/run_time/loaded_module.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <stdexcept>

#include <link.h>

namespace softgpu::compute {
namespace {

constexpr std::string_view symbol_prefix = "softgpu.";

std::uint64_t align_up(std::uint64_t value) { return (value + 3) & ~std::uint64_t{3}; }

/// The build id among a segment of notes, if it is there.
std::string build_id_in(const std::byte* notes, std::size_t size) {
  constexpr std::array<char, 4> owner = {'G', 'N', 'U', '\0'};
  std::uint64_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes + at, sizeof note);
    const std::uint64_t name = at + sizeof note;
    const std::uint64_t content = name + align_up(note.n_namesz);
    at = content + align_up(note.n_descsz);
    if (at > size) break;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == owner.size() &&
        std::memcmp(notes + name, owner.data(), owner.size()) == 0)
      return {reinterpret_cast<const char*>(notes + content), note.n_descsz};
  }
  return {};
}

struct Search {
  std::uint64_t address;
  std::optional<LoadedModule> found;
};

int visit(dl_phdr_info* info, std::size_t, void* data) {
  Search& search = *static_cast<Search*>(data);
  LoadedModule module{.base = info->dlpi_addr, .size = 0, .build_id = {}};
  bool contains = false;
  for (unsigned i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uint64_t begin = module.base + segment.p_vaddr;
    contains = contains || (search.address >= begin && search.address - begin < segment.p_memsz);
    module.size = std::max(module.size, std::uint64_t{segment.p_vaddr} + segment.p_memsz);
  }
  if (!contains) return 0;
  for (unsigned i = 0; i < info->dlpi_phnum && module.build_id.empty(); ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the loader speaks of addresses
    const auto* notes = reinterpret_cast<const std::byte*>(module.base + segment.p_vaddr);
    module.build_id = build_id_in(notes, segment.p_memsz);
  }
  search.found = std::move(module);
  return 1;
}

}  // namespace

std::optional<LoadedModule> LoadedModule::containing(const void* address) {
  Search search{reinterpret_cast<std::uint64_t>(address), {}};
  dl_iterate_phdr(visit, &search);
  return std::move(search.found);
}

const LoadedModule& LoadedModule::own() {
  static const LoadedModule module = containing(reinterpret_cast<const void*>(&own_symbol)).value();
  return module;
}

std::string own_symbol(const void* address) {
  const LoadedModule& own = LoadedModule::own();
  const std::uint64_t offset = reinterpret_cast<std::uint64_t>(address) - own.base;
  if (offset >= own.size) throw std::logic_error("translated code refers to what is not the soft GPU's");
  char digits[16];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), offset, 16).ptr;
  return std::string(symbol_prefix).append(std::begin(digits), end);
}

std::optional<std::uint64_t> own_address(std::string_view symbol) {
  if (!symbol.starts_with(symbol_prefix)) return std::nullopt;
  symbol.remove_prefix(symbol_prefix.size());
  std::uint64_t offset = 0;
  const auto [end, error] = std::from_chars(symbol.data(), symbol.data() + symbol.size(), offset, 16);
  const LoadedModule& own = LoadedModule::own();
  if (error != std::errc{} || end != symbol.data() + symbol.size() || offset >= own.size) return std::nullopt;
  return own.base + offset;
}

}  // namespace softgpu::compute
