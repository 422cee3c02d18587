#include "dispatch/code_object/kernel_metadata.hpp"

#include <elf.h>

#include <limits>
#include <msgpack.hpp>

#include "dispatch/code_object/byte_reader.hpp"
#include "dispatch/code_object/demangle.hpp"

namespace fastdispatch::detail {
namespace {

constexpr std::uint32_t note_amdgpu_metadata = 32;
constexpr char note_owner[] = "AMDGPU";  // its terminating zero counts

struct Note {
  std::uint64_t offset = 0;  // of the description, in the ELF file
  std::span<const std::byte> description;
};

constexpr std::uint64_t aligned_to_4(std::uint64_t value) { return (value + 3) / 4 * 4; }

// Looks through one PT_NOTE segment; an empty description says that the note is not there.
Note find_note(const ByteReader& elf, const Elf64_Phdr& segment) {
  static_cast<void>(elf.bytes(segment.p_offset, segment.p_filesz, "note segment"));
  const std::uint64_t end = segment.p_offset + segment.p_filesz;
  std::uint64_t offset = segment.p_offset;
  while (offset + sizeof(Elf64_Nhdr) <= end) {
    const auto note = elf.read<Elf64_Nhdr>(offset, "note");
    const std::uint64_t owner = offset + sizeof(Elf64_Nhdr);
    const std::uint64_t description = owner + aligned_to_4(note.n_namesz);
    const auto owner_bytes = elf.bytes(owner, note.n_namesz, "note's owner");
    const auto description_bytes = elf.bytes(description, note.n_descsz, "note's description");
    if (note.n_type == note_amdgpu_metadata && owner_bytes.size() == sizeof(note_owner) &&
        std::memcmp(owner_bytes.data(), static_cast<const char*>(note_owner), sizeof(note_owner)) == 0) {
      return {.offset = description, .description = description_bytes};
    }
    offset = description + aligned_to_4(note.n_descsz);
  }
  return {};
}

Note find_metadata(const ByteReader& elf) {
  const auto header = elf.read<Elf64_Ehdr>(0, "ELF header");
  for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
    if (header.e_phoff > elf.size()) elf.fail("ELF header", 0, "the program headers are outside of the file");
    const auto segment = elf.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr), "program header");
    if (segment.p_type != PT_NOTE) continue;
    if (Note note = find_note(elf, segment); !note.description.empty()) return note;
  }
  elf.fail("code object", 0, "it has no note with AMDGPU metadata");
}

// Reads MessagePack values by their keys, with errors that name the key.
class MetadataReader {
public:
  MetadataReader(const ByteReader& elf, std::uint64_t offset) : elf_(elf), offset_(offset) {}

  [[noreturn]] void fail(std::string_view why) const { elf_.fail("kernel metadata", offset_, why); }

  // Null when the map doesn't have the key.
  [[nodiscard]] const msgpack::object* find(const msgpack::object& map, std::string_view key) const {
    if (map.type != msgpack::type::MAP) fail("a map is wanted around " + std::string(key));
    for (const auto& [name, value] : std::span(map.via.map.ptr, map.via.map.size)) {
      if (name.type == msgpack::type::STR && std::string_view(name.via.str.ptr, name.via.str.size) == key) {
        return &value;
      }
    }
    return nullptr;
  }

  [[nodiscard]] std::span<const msgpack::object> array(const msgpack::object& map, std::string_view key) const {
    const msgpack::object* value = find(map, key);
    if (value == nullptr) return {};
    if (value->type != msgpack::type::ARRAY) fail(std::string(key) + " is no array");
    return {value->via.array.ptr, value->via.array.size};
  }

  [[nodiscard]] std::string text(const msgpack::object& map, std::string_view key) const {
    const msgpack::object* value = find(map, key);
    if (value == nullptr) return {};
    if (value->type != msgpack::type::STR) fail(std::string(key) + " is no string");
    return {value->via.str.ptr, value->via.str.size};
  }

  [[nodiscard]] std::uint32_t number(const msgpack::object& map, std::string_view key) const {
    const msgpack::object* value = find(map, key);
    if (value == nullptr) fail(std::string(key) + " is missing");
    if (value->type != msgpack::type::POSITIVE_INTEGER || value->via.u64 > std::numeric_limits<std::uint32_t>::max()) {
      fail(std::string(key) + " is no 32-bit size");
    }
    return static_cast<std::uint32_t>(value->via.u64);
  }

  [[nodiscard]] std::uint32_t number_or_0(const msgpack::object& map, std::string_view key) const {
    return find(map, key) == nullptr ? 0 : number(map, key);
  }

  // False where the key is missing.
  [[nodiscard]] bool flag(const msgpack::object& map, std::string_view key) const {
    const msgpack::object* value = find(map, key);
    if (value == nullptr) return false;
    if (value->type != msgpack::type::BOOLEAN) fail(std::string(key) + " is neither true nor false");
    return value->via.boolean;
  }

private:
  const ByteReader& elf_;
  std::uint64_t offset_;
};

KernelMetadata read_kernel(const MetadataReader& reader, const msgpack::object& map) {
  KernelMetadata kernel{.name = reader.text(map, ".name"),
                        .symbol = reader.text(map, ".symbol"),
                        .kernarg_segment_size = reader.number(map, ".kernarg_segment_size"),
                        .kernarg_segment_align = reader.number(map, ".kernarg_segment_align"),
                        .group_segment_fixed_size = reader.number(map, ".group_segment_fixed_size"),
                        .private_segment_fixed_size = reader.number(map, ".private_segment_fixed_size"),
                        .max_flat_workgroup_size = reader.number(map, ".max_flat_workgroup_size"),
                        .wavefront_size = reader.number(map, ".wavefront_size"),
                        .scalar_registers = reader.number_or_0(map, ".sgpr_count"),
                        .vector_registers = reader.number_or_0(map, ".vgpr_count"),
                        .accumulation_registers = reader.number_or_0(map, ".agpr_count"),
                        .spilled_scalar_registers = reader.number_or_0(map, ".sgpr_spill_count"),
                        .spilled_vector_registers = reader.number_or_0(map, ".vgpr_spill_count"),
                        .uses_dynamic_stack = reader.flag(map, ".uses_dynamic_stack"),
                        .arguments = {}};
  if (kernel.name.empty() || kernel.symbol.empty()) reader.fail("a kernel has no .name or no .symbol");
  for (const msgpack::object& argument : reader.array(map, ".args")) {
    ArgumentMetadata metadata{.name = reader.text(argument, ".name"),
                              .type_name = reader.text(argument, ".type_name"),
                              .value_kind = reader.text(argument, ".value_kind"),
                              .access = reader.text(argument, ".access"),
                              .actual_access = reader.text(argument, ".actual_access"),
                              .offset = reader.number(argument, ".offset"),
                              .size = reader.number(argument, ".size")};
    if (std::uint64_t{metadata.offset} + metadata.size > kernel.kernarg_segment_size) {
      reader.fail("an argument of kernel " + demangle(kernel.name) + " is outside of its kernarg segment of " +
                  std::to_string(kernel.kernarg_segment_size) + " bytes");
    }
    kernel.arguments.push_back(std::move(metadata));
  }
  return kernel;
}

}  // namespace

std::vector<KernelMetadata> read_kernel_metadata(std::span<const std::byte> bytes, std::string_view name) {
  const ByteReader elf(bytes, std::string(name));
  const Note note = find_metadata(elf);
  const MetadataReader reader(elf, note.offset);
  msgpack::object_handle document;
  try {
    // No container or text can have more elements than the note has bytes: so a damaged count allocates little.
    const std::size_t size = note.description.size();
    const msgpack::unpack_limit limit(size, size, size, size, size, 16);
    document = msgpack::unpack(reinterpret_cast<const char*>(note.description.data()), size, nullptr, nullptr, limit);
  } catch (const msgpack::unpack_error& error) {
    reader.fail(std::string("it is no MessagePack: ") + error.what());
  }
  std::vector<KernelMetadata> kernels;
  for (const msgpack::object& kernel : reader.array(document.get(), "amdhsa.kernels")) {
    kernels.push_back(read_kernel(reader, kernel));
  }
  return kernels;
}

}  // namespace fastdispatch::detail
