// A library that was built without zlib and zstd.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compressed_bundle.hpp"
#include "dispatch/code_object/uncompressed_file.hpp"
#include "expect_error.hpp"

namespace fastdispatch::detail {
namespace {

TEST(WithoutDecompressors, compressed_bundles_are_refused_with_what_is_missing) {
  for (const Compression method : {Compression::zlib, Compression::zstd}) {
    const auto file =
        test::BundleHeader{
            .version = 1, .method = static_cast<std::uint16_t>(method), .file_bytes = 0, .uncompressed_bytes = 8}
            .with({});
    const std::string name(to_string(method));
    EXPECT_EQ(test::error_of([&] { static_cast<void>(UncompressedFile(file, "kernels.hsaco")); }),
              "kernels.hsaco: an offload bundle that is compressed by " + name +
                  ", and this fastdispatch was built without " + name + "; build it where " + name +
                  "'s headers are, or compile the kernels with --no-offload-compress");
  }
}

TEST(WithoutDecompressors, other_files_are_viewed_as_they_are) {
  const std::vector<std::byte> elf(64);
  EXPECT_EQ(UncompressedFile(elf, "kernels.hsaco").bytes().data(), elf.data());
}

}  // namespace
}  // namespace fastdispatch::detail
