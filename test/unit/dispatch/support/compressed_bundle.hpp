// Compressed offload bundles, written as clang's documentation of the offload bundler describes them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string_view>
#include <vector>

#ifdef FASTDISPATCH_ZLIB
#include <zlib.h>
#endif
#ifdef FASTDISPATCH_ZSTD
#include <zstd.h>
#endif

#include "dispatch/code_object/decompress.hpp"

namespace fastdispatch::test {

inline std::vector<std::byte> compressed_by([[maybe_unused]] detail::Compression method,
                                            [[maybe_unused]] std::span<const std::byte> bytes) {
#ifdef FASTDISPATCH_ZLIB
  if (method == detail::Compression::zlib) {
    std::vector<std::byte> data(::compressBound(bytes.size()));
    uLongf size = data.size();
    ::compress(reinterpret_cast<Bytef*>(data.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
               bytes.size());
    data.resize(size);
    return data;
  }
#endif
#ifdef FASTDISPATCH_ZSTD
  if (method == detail::Compression::zstd) {
    std::vector<std::byte> data(::ZSTD_compressBound(bytes.size()));
    data.resize(::ZSTD_compress(data.data(), data.size(), bytes.data(), bytes.size(), 3));
    return data;
  }
#endif
  throw std::logic_error("the tests were built without this compression");
}

// The header, with whatever numbers a test wants in it.
struct BundleHeader {
  std::uint16_t version;
  std::uint16_t method;
  std::uint64_t file_bytes;
  std::uint64_t uncompressed_bytes;

  [[nodiscard]] static std::size_t size(std::uint16_t version) { return version == 1 ? 20 : version == 2 ? 24 : 32; }

  [[nodiscard]] std::vector<std::byte> with(std::span<const std::byte> data) const {
    std::vector<std::byte> file(size(version) + data.size());
    std::size_t offset = 0;
    const auto add = [&](const auto& value) {
      std::memcpy(file.data() + offset, &value, sizeof(value));
      offset += sizeof(value);
    };
    const auto add_size = [&](std::uint64_t value) {
      if (version == 3) {
        add(value);
      } else {
        add(static_cast<std::uint32_t>(value));
      }
    };
    for (const char letter : std::string_view("CCOB")) add(letter);
    add(version);
    add(method);
    if (version != 1) add_size(file_bytes);
    add_size(uncompressed_bytes);
    add(std::uint64_t{0});  // the hash
    std::ranges::copy(data, file.begin() + static_cast<std::ptrdiff_t>(offset));
    return file;
  }
};

// The right header for `data`, which `bundle` was compressed to.
inline BundleHeader header_of(std::uint16_t version, detail::Compression method, std::span<const std::byte> data,
                              std::span<const std::byte> bundle) {
  return {.version = version,
          .method = static_cast<std::uint16_t>(method),
          .file_bytes = BundleHeader::size(version) + data.size(),
          .uncompressed_bytes = bundle.size()};
}

inline std::vector<std::byte> compressed_bundle(std::uint16_t version, detail::Compression method,
                                                std::span<const std::byte> bundle) {
  const std::vector<std::byte> data = compressed_by(method, bundle);
  return header_of(version, method, data, bundle).with(data);
}

}  // namespace fastdispatch::test
