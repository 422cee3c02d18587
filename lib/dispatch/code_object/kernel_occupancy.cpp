#include "dispatch/code_object/kernel_occupancy.hpp"

#include <elf.h>

#include <optional>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/byte_reader.hpp"
#include "dispatch/code_object/demangle.hpp"
#include "dispatch/code_object/kernel_info.hpp"
#include "fastdispatch/error.hpp"
#include "fastdispatch/occupancy.hpp"
#include "occupancy/compute_units.hpp"

namespace fastdispatch {
namespace detail {
namespace {

// Fields of the kernel descriptor (LLVM's AMDGPU usage guide, "Kernel Descriptor").
constexpr std::uint64_t rsrc1_offset = 48;       // COMPUTE_PGM_RSRC1
constexpr std::uint64_t properties_offset = 56;  // KERNEL_CODE_PROPERTIES
constexpr std::uint32_t wavefront_size_32 = 0x400;

bool has_name(const ByteReader& elf, std::uint64_t offset, std::string_view name) {
  if (offset > elf.size() || elf.size() - offset <= name.size()) return false;
  const auto bytes = elf.bytes(offset, name.size() + 1, "symbol's name");
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()) == std::string(name) + '\0';
}

// Where the symbol's bytes are in the file.
std::optional<std::uint64_t> find_symbol(const ByteReader& elf, std::string_view name) {
  const auto header = elf.read<Elf64_Ehdr>(0, "ELF header");
  const auto section = [&](std::uint64_t i) {
    return elf.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr), "section header");
  };
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr table = section(i);
    if (table.sh_type != SHT_DYNSYM && table.sh_type != SHT_SYMTAB) continue;
    const Elf64_Shdr names = section(table.sh_link);
    for (std::uint64_t offset = 0; offset + sizeof(Elf64_Sym) <= table.sh_size; offset += sizeof(Elf64_Sym)) {
      const auto symbol = elf.read<Elf64_Sym>(table.sh_offset + offset, "symbol");
      if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx >= header.e_shnum) continue;
      if (!has_name(elf, names.sh_offset + symbol.st_name, name)) continue;
      const Elf64_Shdr home = section(symbol.st_shndx);
      return home.sh_offset + (symbol.st_value - home.sh_addr);
    }
  }
  return std::nullopt;
}

}  // namespace

KernelRegisters read_kernel_registers(std::span<const std::byte> bytes, const KernelMetadata& kernel,
                                      std::string_view name) {
  const ByteReader elf(bytes, std::string(name));
  const std::optional<std::uint64_t> descriptor = find_symbol(elf, kernel.symbol);
  if (!descriptor)
    throw Error(fmt::format("{}: kernel {} has no descriptor: there is no symbol {}", name, demangle(kernel.name),
                            kernel.symbol));
  const auto properties = elf.read<std::uint16_t>(*descriptor + properties_offset, "kernel descriptor");
  return {.wavefront_size = (properties & wavefront_size_32) != 0 ? 32U : 64U,
          .rsrc1 = elf.read<std::uint32_t>(*descriptor + rsrc1_offset, "kernel descriptor"),
          .scalar = kernel.scalar_registers};
}

PlacedGroups place_groups(const occupancy::ComputeUnit& unit, const KernelRegisters& registers,
                          std::uint32_t work_items, std::uint64_t lds_bytes) {
  const std::uint32_t lanes = registers.wavefront_size;
  const occupancy::Place place = unit.place_of(registers.rsrc1);
  const std::uint32_t waves = (work_items + lanes - 1) / lanes;
  const occupancy::Occupancy found =
      occupancy::of(unit, place,
                    {.lanes = lanes,
                     .waves = waves,
                     .vector_registers = unit.vector_registers_in(registers.rsrc1, lanes),
                     .scalar_registers = registers.scalar,
                     .lds_bytes = lds_bytes});
  return {.place = place,
          .waves_per_group = waves,
          .waves_per_simd = found.waves_per_simd,
          .groups = found.groups,
          .limit = found.limit};
}

Occupancy occupancy_of(const KernelInfo& kernel, const Grid& grid, std::uint64_t local_memory) {
  if (has_too_large_groups(kernel, grid)) throw_too_large_groups(kernel, grid, kernel.processor);
  const occupancy::ComputeUnit* unit = occupancy::find_compute_unit(kernel.processor);
  if (unit == nullptr)
    throw Error(fmt::format("the occupancy of kernel {} is not known: the library does not know the compute units of "
                            "{}",
                            kernel.name, kernel.processor));
  const auto& [x, y, z] = grid.group_size;
  const std::uint32_t work_items = x * y * z;
  if (work_items == 0)
    throw Error(fmt::format("kernel {} can't run in work-groups of {} x {} x {} work-items: they are empty",
                            kernel.name, x, y, z));
  const PlacedGroups placed =
      place_groups(*unit, kernel.registers, work_items, group_segment(kernel, grid, local_memory));
  const std::uint32_t places = kernel.compute_units / placed.place.compute_units;
  return {.groups = placed.groups,
          .waves = placed.groups * placed.waves_per_group,
          .most_waves = placed.place.simds * unit->most_waves_per_simd,
          .compute_units = placed.place.compute_units,
          .groups_on_gpu = std::uint64_t{places} * placed.groups,
          .limit = static_cast<OccupancyLimit>(placed.limit)};
}

}  // namespace detail

static_assert(static_cast<int>(OccupancyLimit::wave_slots) == static_cast<int>(occupancy::Limit::wave_slots) &&
              static_cast<int>(OccupancyLimit::vector_registers) ==
                  static_cast<int>(occupancy::Limit::vector_registers) &&
              static_cast<int>(OccupancyLimit::scalar_registers) ==
                  static_cast<int>(occupancy::Limit::scalar_registers) &&
              static_cast<int>(OccupancyLimit::lds) == static_cast<int>(occupancy::Limit::lds) &&
              static_cast<int>(OccupancyLimit::barriers) == static_cast<int>(occupancy::Limit::barriers));

std::string_view to_string(OccupancyLimit limit) { return occupancy::to_string(static_cast<occupancy::Limit>(limit)); }

}  // namespace fastdispatch
