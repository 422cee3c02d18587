#include "dispatch/code_object/code_object.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "dispatch/code_object/byte_reader.hpp"
#include "dispatch/code_object/elf_layout.hpp"
#include "dispatch/hsa/log.hpp"

namespace fastdispatch::detail {
namespace {

constexpr std::string_view bundle_magic = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::string_view elf_magic(ELFMAG, SELFMAG);

constexpr unsigned char os_abi_amdgpu_hsa = 64;
constexpr unsigned char oldest_abi_version = 1;  // code object v3
constexpr unsigned abi_versions_behind = 2;      // the code object's version
constexpr Elf64_Half machine_amdgpu = 224;

bool starts_with(const ByteReader& file, std::string_view magic) {
  return file.size() >= magic.size() &&
         std::memcmp(file.bytes(0, magic.size(), "file").data(), magic.data(), magic.size()) == 0;
}

std::string in_hex(std::uint32_t value) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (; value != 0; value /= 16) text.insert(text.begin(), digits[value % 16]);
  return "0x" + (text.empty() ? "0" : text);
}

struct CodeHeader {
  TargetId target;
  unsigned version;
};

CodeHeader read_header(const ByteReader& file, std::size_t offset) {
  const auto header = file.read<Elf64_Ehdr>(offset, "ELF header");
  if (std::memcmp(static_cast<const void*>(header.e_ident), ELFMAG, SELFMAG) != 0) {
    file.fail("ELF header", offset, "the magic number is missing");
  }
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    file.fail("ELF header", offset, "a code object is a little-endian 64-bit file");
  }
  if (header.e_machine != machine_amdgpu || header.e_ident[EI_OSABI] != os_abi_amdgpu_hsa) {
    throw Error(file.file() + ": an ELF file, but not for AMD GPUs under HSA (machine " +
                std::to_string(header.e_machine) + ", OS ABI " + std::to_string(header.e_ident[EI_OSABI]) +
                "); compile it with --offload-arch or -mcpu for amdgcn-amd-amdhsa");
  }
  if (header.e_type != ET_DYN) {
    throw Error(file.file() + ": an object file that was not linked; link it with lld -shared");
  }
  if (header.e_ident[EI_ABIVERSION] < oldest_abi_version) {
    throw Error(file.file() + ": a code object of version 2; version 3 is the oldest supported, " + "recompile it");
  }
  auto target = target_id_of_elf(header.e_ident[EI_ABIVERSION], header.e_flags);
  if (!target) {
    throw Error(file.file() + ": an unknown processor in the ELF flags " + in_hex(header.e_flags) + " at offset " +
                std::to_string(offset + offsetof(Elf64_Ehdr, e_flags)));
  }
  const std::uint32_t generic_version = generic_version_of_elf(header.e_ident[EI_ABIVERSION], header.e_flags);
  if ((generic_version == 0) != processors_of_generic(target->processor).empty()) {
    file.fail("ELF flags", offset + offsetof(Elf64_Ehdr, e_flags),
              "the processor " + target->processor + " with version " + std::to_string(generic_version) +
                  " of a generic processor");
  }
  return {.target = std::move(*target), .version = header.e_ident[EI_ABIVERSION] + abi_versions_behind};
}

struct Entry {
  std::string id;
  std::size_t offset;
  std::size_t size;
};

// Layout: clang's documentation of the offload bundler, "Bundled Code Object File Layout".
std::vector<Entry> read_bundle(const ByteReader& file) {
  std::uint64_t offset = bundle_magic.size();
  const auto count = file.read<std::uint64_t>(offset, "bundle header");
  offset += sizeof(std::uint64_t);
  std::vector<Entry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    struct Descriptor {
      std::uint64_t offset, size, id_size;
    };
    const auto descriptor = file.read<Descriptor>(offset, "bundle entry");
    const auto id = file.bytes(offset + sizeof(Descriptor), descriptor.id_size, "bundle entry's id");
    static_cast<void>(file.bytes(descriptor.offset, descriptor.size, "bundle entry's content"));
    entries.push_back({.id = std::string(reinterpret_cast<const char*>(id.data()), id.size()),
                       .offset = descriptor.offset,
                       .size = descriptor.size});
    offset += sizeof(Descriptor) + descriptor.id_size;
  }
  return entries;
}

std::string list(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) text += (text.empty() ? "" : ", ") + entry.id;
  return text.empty() ? "nothing" : text;
}

[[noreturn]] void throw_no_match(std::string_view name, const std::string& available, std::string_view isa) {
  throw Error(std::string(name) + ": no code object for this device, which is " + std::string(isa) +
              "; the file has: " + available + "; compile it with --offload-arch for the device");
}

CodeObject code_object_in(const ByteReader& file, const Entry& entry) {
  CodeHeader header = read_header(file, entry.offset);
  const auto elf = file.bytes(entry.offset, entry.size, "bundle entry's content");
  check_elf_layout(ByteReader(elf, file.file() + (entry.id.empty() ? "" : ", entry " + entry.id)));
  return {.entry = entry.id,
          .target = std::move(header.target),
          .version = header.version,
          .offset = entry.offset,
          .elf = elf};
}

CodeObject select_from_bundle(const ByteReader& file, const TargetId& device, std::string_view isa) {
  const std::vector<Entry> entries = read_bundle(file);
  const Entry* best = nullptr;
  int best_specificity = -1;
  for (const Entry& entry : entries) {
    const auto target = parse_target_id(entry.id);
    if (target && runs_on(*target, device) && specificity(*target) > best_specificity) {
      best = &entry;
      best_specificity = specificity(*target);
    }
  }
  if (best == nullptr) throw_no_match(file.file(), list(entries), isa);
  CodeObject code_object = code_object_in(file, *best);
  if (!runs_on(code_object.target, device)) {
    file.fail("bundle entry " + best->id, best->offset, "its ELF flags say " + to_string(code_object.target));
  }
  log().debug("{}: taken is {}, the most specific entry that runs on {}; the bundle has: {}", file.file(), best->id,
              isa, list(entries));
  return code_object;
}

// What the file is, whatever it is for. Throws Error for what is neither a bundle nor an ELF file.
bool is_bundle(const ByteReader& file) {
  if (starts_with(file, bundle_magic)) return true;
  if (!starts_with(file, elf_magic)) {
    throw Error(file.file() + ": neither an ELF code object nor a clang offload bundle" +
                (file.size() == 0 ? " (it is empty)" : ""));
  }
  return false;
}

// A raw ELF file.
CodeObject whole_code_object(const ByteReader& file) {
  CodeObject code_object = code_object_in(file, {.id = "", .offset = 0, .size = file.size()});
  code_object.entry = to_string(code_object.target);
  return code_object;
}

}  // namespace

CodeObject select_code_object(std::span<const std::byte> bytes, std::string_view name, std::string_view isa) {
  const ByteReader file(bytes, std::string(name));
  const auto device = parse_target_id(isa);
  if (!device) throw Error(std::string(name) + ": the device's ISA \"" + std::string(isa) + "\" is none of AMD's HSA");

  if (is_bundle(file)) return select_from_bundle(file, *device, isa);
  CodeObject code_object = whole_code_object(file);
  if (!runs_on(code_object.target, *device)) throw_no_match(name, code_object.entry, isa);
  log().debug("{}: no bundle, but one code object, for {}, which runs on {}", name, code_object.entry, isa);
  return code_object;
}

std::vector<FileEntry> read_entries(std::span<const std::byte> bytes, std::string_view name) {
  const ByteReader file(bytes, std::string(name));
  std::vector<FileEntry> entries;
  if (!is_bundle(file)) {
    FileEntry& whole = entries.emplace_back();
    whole.code_object = whole_code_object(file);
    whole.id = whole.code_object->entry;
    whole.size = bytes.size();
    return entries;
  }
  for (const Entry& entry : read_bundle(file)) {
    FileEntry& added = entries.emplace_back(FileEntry{.id = entry.id, .offset = entry.offset, .size = entry.size});
    if (parse_target_id(entry.id)) added.code_object = code_object_in(file, entry);
  }
  return entries;
}

}  // namespace fastdispatch::detail
