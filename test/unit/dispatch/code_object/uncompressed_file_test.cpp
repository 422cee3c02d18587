#include "dispatch/code_object/uncompressed_file.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compressed_bundle.hpp"
#include "dispatch/code_object/code_object.hpp"
#include "dispatch/code_object/kernel_metadata.hpp"
#include "expect_error.hpp"
#include "test_files.hpp"

namespace fastdispatch::detail {
namespace {

using test::BundleHeader;
using test::Bytes;
using test::compressed_bundle;
using test::error_of;
using ::testing::HasSubstr;

std::span<const std::byte> as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// A format version and a compression.
class CompressedBundle : public ::testing::TestWithParam<std::tuple<std::uint16_t, Compression>> {
protected:
  void SetUp() override {
    if (!is_built_in(method)) GTEST_SKIP() << "built without " << to_string(method);
    data = test::compressed_by(method, bundle);
  }

  [[nodiscard]] BundleHeader header() const { return test::header_of(version, method, data, bundle); }
  [[nodiscard]] static std::string error(const Bytes& file) {
    return error_of([&] { static_cast<void>(UncompressedFile(file, "kernels.hsaco")); });
  }

  const std::uint16_t version = std::get<0>(GetParam());
  const Compression method = std::get<1>(GetParam());
  const Bytes bundle = test::bundle();
  Bytes data;
};

INSTANTIATE_TEST_SUITE_P(Formats, CompressedBundle,
                         ::testing::Combine(::testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{3}),
                                            ::testing::Values(Compression::zlib, Compression::zstd)),
                         [](const auto& each) {
                           return "version_" + std::to_string(std::get<0>(each.param)) + "_" +
                                  std::string(to_string(std::get<1>(each.param)));
                         });

TEST_P(CompressedBundle, is_the_bundle_that_it_was_made_of) {
  const Bytes compressed = header().with(data);
  const UncompressedFile file(compressed, "kernels.hsaco");
  EXPECT_TRUE(std::ranges::equal(file.bytes(), bundle));
  ASSERT_TRUE(file.compression());
  EXPECT_EQ(file.compression()->format_version, version);
  EXPECT_EQ(file.compression()->method, method);
  EXPECT_EQ(file.compression()->compressed_bytes, compressed.size());
  EXPECT_EQ(file.compression()->uncompressed_bytes, bundle.size());
  EXPECT_EQ(select_code_object(file.bytes(), "kernels.hsaco", "amdgcn-amd-amdhsa--gfx1030").entry,
            "hipv4-amdgcn-amd-amdhsa--gfx1030");
}

TEST_P(CompressedBundle, may_have_other_bytes_behind_it_where_it_tells_its_size) {
  Bytes file = header().with(data);
  file.resize(file.size() + 100);
  if (version == 1) {
    EXPECT_THAT(error(file), HasSubstr("damaged"));
  } else {
    EXPECT_TRUE(std::ranges::equal(UncompressedFile(file, "kernels.hsaco").bytes(), bundle));
  }
}

TEST_P(CompressedBundle, that_is_truncated_anywhere_is_an_error) {
  const Bytes whole = header().with(data);
  for (std::size_t size = 4; size < whole.size(); size += 7)
    EXPECT_THAT(error(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size))), HasSubstr("damaged"))
        << size;
}

// zlib notices every damage of its data, zstd what breaks its structure: clang asks zstd for no checksum.
TEST_P(CompressedBundle, with_a_bit_flipped_anywhere_is_an_error_or_as_long_as_stated) {
  const Bytes whole = header().with(data);
  std::size_t refused = 0;
  for (std::size_t i = 4; i < whole.size(); i += i < BundleHeader::size(version) ? 1 : 11) {
    Bytes file = whole;
    file[i] ^= std::byte{4};
    try {
      const UncompressedFile read(file, "kernels.hsaco");
      EXPECT_EQ(read.bytes().size(), bundle.size()) << i;
      if (method == Compression::zlib) {
        EXPECT_TRUE(std::ranges::equal(read.bytes(), bundle)) << i;
      }
    } catch (const Error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
}

TEST_P(CompressedBundle, whose_size_is_not_the_stated_one_is_damaged) {
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{bundle.size() - 1}, std::uint64_t{bundle.size() + 1}}) {
    BundleHeader other = header();
    other.uncompressed_bytes = bytes;
    EXPECT_THAT(error(other.with(data)),
                HasSubstr("kernels.hsaco: damaged data that " + std::string(to_string(method))))
        << bytes;
  }
}

TEST_P(CompressedBundle, that_states_more_than_its_data_can_be_is_refused_before_memory_is_taken) {
  BundleHeader large = header();
  large.uncompressed_bytes = 0xffffffff;
  EXPECT_THAT(error(large.with(data)), HasSubstr("they cannot be the stated 4294967295 bytes"));
  if (version < 3) return;
  large.uncompressed_bytes = std::uint64_t{1} << 40U;
  EXPECT_THAT(error(large.with(data)), HasSubstr("1099511627776 bytes are more than any bundle has"));
}

TEST_P(CompressedBundle, whose_file_is_smaller_than_it_says_is_damaged) {
  if (version == 1) GTEST_SKIP() << "version 1 does not say it";
  BundleHeader other = header();
  other.file_bytes += 1;
  EXPECT_THAT(error(other.with(data)), HasSubstr("it says that the file has"));
  other.file_bytes = BundleHeader::size(version) - 1;
  EXPECT_THAT(error(other.with(data)), HasSubstr("it says that the file has"));
}

TEST_P(CompressedBundle, with_bytes_behind_its_data_is_damaged) {
  Bytes longer = data;
  longer.resize(longer.size() + 4);
  EXPECT_THAT(error(test::header_of(version, method, longer, bundle).with(longer)), HasSubstr("damaged data"));
}

TEST_P(CompressedBundle, of_something_else_is_no_bundle) {
  const Bytes twice = header().with(data);
  const Bytes file = compressed_bundle(version, method, twice);
  const UncompressedFile uncompressed(file, "kernels.hsaco");
  EXPECT_THAT(error_of([&] { static_cast<void>(read_entries(uncompressed.bytes(), "kernels.hsaco")); }),
              HasSubstr("neither an ELF code object nor a clang offload bundle"));
}

std::string error_of_header(const BundleHeader& header) {
  const Bytes file = header.with(as_bytes("data"));
  return error_of([&] { static_cast<void>(UncompressedFile(file, "kernels.hsaco")); });
}

TEST(CompressedBundles, of_an_unknown_version_or_compression_say_so) {
  EXPECT_THAT(error_of_header({.version = 4, .method = 1, .file_bytes = 0, .uncompressed_bytes = 0}),
              HasSubstr("format version 4; versions 1 to 3 are supported; compile with --no-offload-compress"));
  EXPECT_THAT(error_of_header({.version = 2, .method = 7, .file_bytes = 28, .uncompressed_bytes = 9}),
              HasSubstr("the compression method 7 is neither zlib (0) nor zstd (1)"));
}

TEST(CompressedBundles, that_clang_wrote_are_read) {
  if (!is_built_in(Compression::zstd)) GTEST_SKIP() << "built without zstd";
  for (const unsigned version : {2U, 3U}) {
    const Bytes file = test::read_file(TEST_CODE_OBJECTS "/compressed_v" + std::to_string(version) + ".hsaco");
    const UncompressedFile bundle(file, "file");
    EXPECT_EQ(bundle.compression()->format_version, version);
    EXPECT_EQ(bundle.compression()->method, Compression::zstd);
    EXPECT_EQ(read_entries(bundle.bytes(), "file").size(), 3U);
    const CodeObject code_object = select_code_object(bundle.bytes(), "file", "amdgcn-amd-amdhsa--gfx90a");
    EXPECT_EQ(read_kernel_metadata(code_object.elf, "file").size(), 7U);
  }
}

TEST(UncompressedFiles, are_viewed_as_they_are) {
  const Bytes elf = test::hip_v4();
  const UncompressedFile file(elf, "file");
  EXPECT_EQ(file.bytes().data(), elf.data());
  EXPECT_EQ(file.bytes().size(), elf.size());
  EXPECT_FALSE(file.compression());
  EXPECT_TRUE(UncompressedFile({}, "file").bytes().empty());
}

}  // namespace
}  // namespace fastdispatch::detail
