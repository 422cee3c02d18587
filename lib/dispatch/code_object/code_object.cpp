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
constexpr std::string_view compressed_magic = "CCOB";
constexpr std::string_view elf_magic(ELFMAG, SELFMAG);

constexpr unsigned char os_abi_amdgpu_hsa = 64;
constexpr unsigned char oldest_abi_version = 1;  // code object v3
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

TargetId read_target(const ByteReader& file, std::size_t offset) {
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
  return std::move(*target);
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
  TargetId target = read_target(file, best->offset);
  if (!runs_on(target, device)) {
    file.fail("bundle entry " + best->id, best->offset, "its ELF flags say " + to_string(target));
  }
  const auto elf = file.bytes(best->offset, best->size, "bundle entry's content");
  check_elf_layout(ByteReader(elf, file.file() + ", entry " + best->id));
  log().debug("{}: taken is {}, the most specific entry that runs on {}; the bundle has: {}", file.file(), best->id,
              isa, list(entries));
  return {.entry = best->id, .target = std::move(target), .offset = best->offset, .elf = elf};
}

}  // namespace

CodeObject select_code_object(std::span<const std::byte> bytes, std::string_view name, std::string_view isa) {
  const ByteReader file(bytes, std::string(name));
  const auto device = parse_target_id(isa);
  if (!device) throw Error(std::string(name) + ": the device's ISA \"" + std::string(isa) + "\" is none of AMD's HSA");

  if (starts_with(file, bundle_magic)) return select_from_bundle(file, *device, isa);
  if (starts_with(file, compressed_magic)) {
    throw Error(std::string(name) + ": a compressed offload bundle, which is not supported; compile with "
                                    "--no-offload-compress or unbundle it with clang-offload-bundler");
  }
  if (!starts_with(file, elf_magic)) {
    throw Error(std::string(name) + ": neither an ELF code object nor a clang offload bundle" +
                (bytes.empty() ? " (it is empty)" : ""));
  }
  TargetId target = read_target(file, 0);
  if (!runs_on(target, *device)) throw_no_match(name, to_string(target), isa);
  check_elf_layout(file);
  std::string entry = to_string(target);
  log().debug("{}: no bundle, but one code object, for {}, which runs on {}", name, entry, isa);
  return {.entry = std::move(entry), .target = std::move(target), .offset = 0, .elf = bytes};
}

}  // namespace fastdispatch::detail
