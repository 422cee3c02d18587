// Decompression by zlib and zstd, as far as the library was built with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fastdispatch::detail {

// As compressed offload bundles number them.
enum class Compression : std::uint16_t { zlib = 0, zstd = 1 };

[[nodiscard]] std::string_view to_string(Compression method);

// Whether the library was built with it.
[[nodiscard]] bool is_built_in(Compression method);

// The most bytes that `compressed` can become, told without decompressing it; nothing where it is no such data.
[[nodiscard]] std::optional<std::uint64_t> most_decompressed_bytes(Compression method,
                                                                   std::span<const std::byte> compressed);

// Fills all of `whole`. Returns what is wrong with the data; nothing if they are right.
[[nodiscard]] std::optional<std::string> decompress(Compression method, std::span<const std::byte> compressed,
                                                    std::span<std::byte> whole);

}  // namespace fastdispatch::detail
