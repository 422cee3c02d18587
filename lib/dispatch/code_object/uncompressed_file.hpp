// Files of code objects, with compressed offload bundles decompressed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "dispatch/code_object/decompress.hpp"

namespace fastdispatch::detail {

// How a bundle was compressed.
struct BundleCompression {
  unsigned format_version = 0;
  Compression method = Compression::zlib;
  std::uint64_t compressed_bytes = 0;  // with the header
  std::uint64_t uncompressed_bytes = 0;
};

// Views a file's bytes. Where they are a compressed offload bundle, owns the bundle.
class UncompressedFile {
public:
  // `name` is for error texts. Throws Error when the file is a compressed bundle that is damaged, of an unknown
  // version, or compressed by what the library was built without.
  UncompressedFile(std::span<const std::byte> file, std::string_view name);

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] const std::optional<BundleCompression>& compression() const { return compression_; }

private:
  std::unique_ptr<std::byte[]> bundle_;  // NOLINT(modernize-avoid-c-arrays): a vector would write zeros first
  std::span<const std::byte> bytes_;
  std::optional<BundleCompression> compression_;
};

}  // namespace fastdispatch::detail
