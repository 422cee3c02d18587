#include "dispatch/code_object/code_object.hpp"

#include <elf.h>

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/code_object/kernel_metadata.hpp"
#include "dispatch/code_object/uncompressed_file.hpp"
#include "expect_error.hpp"
#include "test_files.hpp"

namespace fastdispatch::detail {
namespace {

using test::bundle;
using test::Bytes;
using test::error_of;
using test::hip_v4;
using test::overwrite;
using ::testing::HasSubstr;

constexpr const char* xnack_off = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
constexpr const char* xnack_on = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack+";

std::string selection_error(const Bytes& file, const char* isa = xnack_off) {
  return error_of([&] { static_cast<void>(select_code_object(file, "file", isa)); });
}

TEST(CodeObject, of_a_bundle_is_the_entry_with_the_devices_features) {
  const Bytes file = bundle();
  const CodeObject off = select_code_object(file, "file", xnack_off);
  EXPECT_EQ(off.entry, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
  EXPECT_EQ(to_string(off.target), "gfx90a:xnack-");
  EXPECT_EQ(off.elf.data(), file.data() + off.offset);
  EXPECT_EQ(select_code_object(file, "file", xnack_on).entry, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+");
  EXPECT_EQ(select_code_object(file, "file", "amdgcn-amd-amdhsa--gfx1030").entry, "hipv4-amdgcn-amd-amdhsa--gfx1030");
}

TEST(CodeObject, that_names_a_feature_wins_over_one_for_any_setting) {
  // Makes "gfx90a:xnack+" the plain "gfx90a" with another feature's setting left open, by a name of the same length.
  Bytes file = bundle();
  const CodeObject on = select_code_object(file, "file", xnack_on);
  const std::string any = "hip-amdgcn-amd-amdhsa-unknown---gfx90a";
  const std::string id = on.entry;
  ASSERT_EQ(any.size(), id.size());
  const auto place =
      std::search(file.begin(), file.end(), std::as_bytes(std::span(id)).begin(), std::as_bytes(std::span(id)).end());
  ASSERT_NE(place, file.end());
  std::memcpy(&*place, any.data(), any.size());
  constexpr std::uint32_t flags_any = 0x53f;
  overwrite(file, on.offset + offsetof(Elf64_Ehdr, e_flags), flags_any);

  EXPECT_EQ(select_code_object(file, "file", xnack_off).entry, "hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-");
  EXPECT_EQ(select_code_object(file, "file", xnack_on).entry, any);
}

TEST(CodeObject, may_be_a_bare_elf_file) {
  const Bytes file = hip_v4();
  const CodeObject code_object = select_code_object(file, "file", xnack_on);
  EXPECT_EQ(code_object.entry, "gfx90a");
  EXPECT_EQ(code_object.elf.size(), file.size());
}

TEST(CodeObject, is_listed_among_all_entries_of_a_bundle) {
  const Bytes file = bundle();
  const std::vector<FileEntry> entries = read_entries(file, "file");
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].id.substr(0, 5), "host-");
  EXPECT_FALSE(entries[0].code_object);
  ASSERT_TRUE(entries[2].code_object);
  EXPECT_EQ(to_string(entries[2].code_object->target), entries[2].id.substr(entries[2].id.find("gfx")));
  EXPECT_EQ(entries[2].code_object->elf.data(), file.data() + entries[2].offset);

  const Bytes elf = hip_v4();
  const std::vector<FileEntry> only = read_entries(elf, "file");
  ASSERT_EQ(only.size(), 1U);
  EXPECT_EQ(only[0].id, "gfx90a");
  EXPECT_EQ(only[0].size, elf.size());
}

TEST(CodeObject, for_no_such_device_is_an_error_that_lists_what_there_is) {
  const std::string text = selection_error(bundle(), "amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-");
  EXPECT_THAT(text, HasSubstr("amdgcn-amd-amdhsa--gfx906:sramecc+:xnack-"));
  EXPECT_THAT(text, HasSubstr("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack+"));
  EXPECT_THAT(text, HasSubstr("hipv4-amdgcn-amd-amdhsa--gfx1030"));
  EXPECT_THAT(selection_error(hip_v4(), "amdgcn-amd-amdhsa--gfx1030"), HasSubstr("the file has: gfx90a"));
}

TEST(CodeObject, that_is_none_says_what_it_is) {
  const auto bytes = [](std::string_view text) {
    const auto view = std::as_bytes(std::span(text));
    return Bytes(view.begin(), view.end());
  };
  EXPECT_THAT(selection_error({}), HasSubstr("empty"));
  EXPECT_THAT(selection_error(bytes("#include <hip/hip_runtime.h>")), HasSubstr("neither an ELF"));

  Bytes host = hip_v4();
  overwrite(host, offsetof(Elf64_Ehdr, e_machine), Elf64_Half{EM_X86_64});
  EXPECT_THAT(selection_error(host), HasSubstr("not for AMD GPUs"));

  Bytes object_file = hip_v4();
  overwrite(object_file, offsetof(Elf64_Ehdr, e_type), Elf64_Half{ET_REL});
  EXPECT_THAT(selection_error(object_file), HasSubstr("not linked"));

  Bytes version_2 = hip_v4();
  overwrite(version_2, EI_ABIVERSION, std::uint8_t{0});
  EXPECT_THAT(selection_error(version_2), HasSubstr("version 2"));
}

TEST(CodeObject, whose_flags_contradict_its_entry_is_damaged) {
  Bytes file = bundle();
  const CodeObject off = select_code_object(file, "file", xnack_off);
  overwrite(file, off.offset + offsetof(Elf64_Ehdr, e_flags), std::uint32_t{0x036});
  EXPECT_THAT(selection_error(file), HasSubstr("its ELF flags say gfx1030"));
}

// Code for gfx90a with another header.
Bytes with_header(std::uint8_t abi_version, std::uint32_t flags) {
  Bytes file = hip_v4();
  overwrite(file, EI_ABIVERSION, abi_version);
  overwrite(file, offsetof(Elf64_Ehdr, e_flags), flags);
  return file;
}

TEST(CodeObject, for_a_generic_processor_is_for_each_of_its_processors) {
  const Bytes file = with_header(4, 0x01000053);
  for (const char* isa : {"amdgcn-amd-amdhsa--gfx1030", "amdgcn-amd-amdhsa--gfx1036"}) {
    const CodeObject code_object = select_code_object(file, "file", isa);
    EXPECT_EQ(to_string(code_object.target), "gfx10-3-generic");
    EXPECT_EQ(code_object.version, 6U);
  }
  EXPECT_THAT(selection_error(file, "amdgcn-amd-amdhsa--gfx1100"), HasSubstr("the file has: gfx10-3-generic"));
  EXPECT_EQ(select_code_object(with_header(4, 0xff000053), "file", "amdgcn-amd-amdhsa--gfx1031").version, 6U);
}

TEST(CodeObject, with_a_generic_version_where_there_is_none_is_damaged) {
  EXPECT_THAT(selection_error(with_header(4, 0x00000053)),
              HasSubstr("the processor gfx10-3-generic with version 0 of a generic processor"));
  EXPECT_THAT(selection_error(with_header(3, 0x01000053)), HasSubstr("gfx10-3-generic with version 0"));
  EXPECT_THAT(selection_error(with_header(4, 0x0200053f)), HasSubstr("gfx90a with version 2"));
}

TEST(CodeObject, that_clang_wrote_for_generic_processors_is_taken_where_there_is_none_for_the_processor) {
  if (!is_built_in(Compression::zstd)) GTEST_SKIP() << "built without zstd";
  const Bytes compressed = test::read_file(TEST_CODE_OBJECTS "/generic.hsaco");
  const UncompressedFile file(compressed, "file");
  EXPECT_EQ(read_entries(file.bytes(), "file").size(), 9U);
  const std::pair<const char*, const char*> targets[] = {{"gfx900:xnack-", "gfx9-generic"},
                                                         {"gfx942:sramecc+:xnack-", "gfx9-4-generic"},
                                                         {"gfx1012:xnack-", "gfx10-1-generic"},
                                                         {"gfx1031", "gfx10-3-generic"},
                                                         {"gfx1030", "gfx1030"},
                                                         {"gfx1153", "gfx11-generic"},
                                                         {"gfx1201", "gfx12-generic"},
                                                         {"gfx90a:sramecc+:xnack-", "gfx90a"}};
  for (const auto& [device, taken] : targets) {
    const CodeObject code_object =
        select_code_object(file.bytes(), "file", std::string("amdgcn-amd-amdhsa--") + device);
    EXPECT_EQ(to_string(code_object.target), taken) << device;
    EXPECT_EQ(code_object.version, 6U);
    EXPECT_EQ(read_kernel_metadata(code_object.elf, "file").size(), 7U);
  }
}

TEST(CodeObject, with_tables_outside_of_the_file_is_damaged) {
  Bytes sections = hip_v4();
  overwrite(sections, offsetof(Elf64_Ehdr, e_shoff), ~std::uint64_t{0} - 10);
  EXPECT_THAT(selection_error(sections), HasSubstr("damaged"));

  Bytes segments = hip_v4();
  overwrite(segments, offsetof(Elf64_Ehdr, e_phnum), Elf64_Half{0xffff});
  EXPECT_THAT(selection_error(segments), HasSubstr("damaged"));
}

// The first section of a type, and where its header is.
struct FoundSection {
  std::size_t header_offset;
  Elf64_Shdr header;
};
FoundSection find_section(const Bytes& file, Elf64_Word type) {
  Elf64_Ehdr header;
  std::memcpy(&header, file.data(), sizeof(header));
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    FoundSection found{.header_offset = header.e_shoff + i * sizeof(Elf64_Shdr), .header = {}};
    std::memcpy(&found.header, file.data() + found.header_offset, sizeof(found.header));
    if (found.header.sh_type == type) return found;
  }
  ADD_FAILURE() << "no section of type " << type;
  return {};
}

std::size_t last_symbol(const Bytes& file) {
  const Elf64_Shdr symbols = find_section(file, SHT_SYMTAB).header;
  return symbols.sh_offset + symbols.sh_size - sizeof(Elf64_Sym);
}

TEST(CodeObject, with_a_symbol_outside_of_what_is_loaded_is_damaged) {
  Bytes file = hip_v4();
  overwrite(file, last_symbol(file) + offsetof(Elf64_Sym, st_value), Elf64_Addr{0x7fff0000});
  EXPECT_THAT(selection_error(file), HasSubstr("a symbol is not in a loaded segment"));
}

// ROCr's loader crashes on each of these.
TEST(CodeObject, that_would_lead_the_loader_to_nowhere_is_damaged) {
  Bytes undefined = hip_v4();
  overwrite(undefined, last_symbol(undefined) + offsetof(Elf64_Sym, st_shndx), Elf64_Section{SHN_UNDEF});
  EXPECT_THAT(selection_error(undefined), HasSubstr("a symbol is not defined"));

  Bytes absolute = hip_v4();
  overwrite(absolute, last_symbol(absolute) + offsetof(Elf64_Sym, st_shndx), Elf64_Section{SHN_ABS});
  EXPECT_THAT(selection_error(absolute), HasSubstr("a symbol is in no section"));

  Bytes aligned = hip_v4();
  overwrite(aligned, find_section(aligned, SHT_PROGBITS).header_offset + offsetof(Elf64_Shdr, sh_addralign),
            Elf64_Xword{UINT32_MAX});
  EXPECT_THAT(selection_error(aligned), HasSubstr("its alignment is 4 GiB or more"));

  Bytes untyped = hip_v4();
  overwrite(untyped, find_section(untyped, SHT_SYMTAB).header_offset + offsetof(Elf64_Shdr, sh_type),
            Elf64_Word{SHT_NULL});
  EXPECT_THAT(selection_error(untyped), HasSubstr("the section has no type"));

  Bytes misnamed = hip_v4();
  const Elf64_Word name = find_section(misnamed, SHT_NOTE).header.sh_name;
  overwrite(misnamed, find_section(misnamed, SHT_GNU_HASH).header_offset + offsetof(Elf64_Shdr, sh_name), name);
  EXPECT_THAT(selection_error(misnamed), HasSubstr("its type is not that of sections of its name"));

  Bytes nameless = hip_v4();
  overwrite(nameless, offsetof(Elf64_Ehdr, e_shnum), Elf64_Half{1});
  overwrite(nameless, offsetof(Elf64_Ehdr, e_shstrndx), Elf64_Half{0});
  EXPECT_THAT(selection_error(nameless), HasSubstr("the sections' names are in no string table"));

  Bytes empty = hip_v4();
  overwrite(empty, find_section(empty, SHT_PROGBITS).header_offset + offsetof(Elf64_Shdr, sh_type),
            Elf64_Word{SHT_NOBITS});
  EXPECT_THAT(selection_error(empty), HasSubstr("a kernel descriptor is not in its section"));

  Bytes unrelated = hip_v4();
  const std::size_t relocations = find_section(unrelated, SHT_GNU_HASH).header_offset;
  overwrite(unrelated, relocations + offsetof(Elf64_Shdr, sh_type), Elf64_Word{SHT_RELA});
  overwrite(unrelated, relocations + offsetof(Elf64_Shdr, sh_info), Elf64_Word{0xff000000});
  EXPECT_THAT(selection_error(unrelated), HasSubstr("its relocations are of a section that there is not"));

  Bytes long_note = hip_v4();
  overwrite(long_note, find_section(long_note, SHT_NOTE).header.sh_offset + offsetof(Elf64_Nhdr, n_descsz),
            Elf64_Word{0x7fffffff});
  EXPECT_THAT(selection_error(long_note), HasSubstr("a note is larger than its section"));
}

// All checks of a file before ROCr sees it. Returns whether they accept it.
bool accepted(const Bytes& file) {
  try {
    const CodeObject code_object = select_code_object(file, "file", xnack_off);
    static_cast<void>(read_kernel_metadata(code_object.elf, "file"));
    return true;
  } catch (const Error&) {
    return false;
  }
}

TEST(CodeObject, that_is_truncated_anywhere_is_an_error) {
  for (const Bytes& whole : {bundle(), hip_v4()}) {
    ASSERT_TRUE(accepted(whole));
    const CodeObject code_object = select_code_object(whole, "file", xnack_off);
    const std::size_t end = code_object.offset + code_object.elf.size();
    for (std::size_t size = 0; size < end; size += 13) {
      EXPECT_FALSE(accepted(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)))) << size;
    }
    EXPECT_FALSE(accepted(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(end) - 1)));
  }
}

TEST(CodeObject, with_flipped_bytes_is_accepted_or_an_error) {
  const Bytes whole = bundle();
  const CodeObject code_object = select_code_object(whole, "file", xnack_off);
  const std::size_t tables = 256;  // of the bundle
  std::size_t refused = 0;
  const auto flip = [&](std::size_t offset) {
    for (const std::byte mask : {std::byte{0xff}, std::byte{0x80}, std::byte{0x01}}) {
      Bytes file = whole;
      file[offset] ^= mask;
      refused += accepted(file) ? 0U : 1U;
    }
  };
  for (std::size_t i = 0; i < tables; ++i) flip(i);
  for (std::size_t i = 0; i < code_object.elf.size(); i += 3) flip(code_object.offset + i);
  EXPECT_GT(refused, tables);  // any change to the magic numbers, the entries, the note
}

}  // namespace
}  // namespace fastdispatch::detail
