#include "dispatch/code_object/decompress.hpp"

#ifdef FASTDISPATCH_ZLIB
#include <zlib.h>
#endif
#ifdef FASTDISPATCH_ZSTD
#include <zstd.h>
#endif

namespace fastdispatch::detail {
namespace {

// What decompresses one method. It stands here also where its library is missing, and is not called then.
struct Decompressor {
  bool is_built_in = false;
  std::optional<std::uint64_t> (*most_bytes)(std::span<const std::byte>) = nullptr;
  // Returns what is wrong; `written` is the number of bytes otherwise.
  std::optional<std::string> (*fill)(std::span<const std::byte> compressed, std::span<std::byte> whole,
                                     std::size_t& written) = nullptr;
};

#ifdef FASTDISPATCH_ZLIB
// zlib's technical notes: deflate compresses by at most 1032 to 1.
std::optional<std::uint64_t> most_bytes_of_zlib(std::span<const std::byte> compressed) {
  constexpr std::uint64_t largest_ratio = 1032;
  return compressed.size() * largest_ratio;
}

std::optional<std::string> fill_by_zlib(std::span<const std::byte> compressed, std::span<std::byte> whole,
                                        std::size_t& written) {
  uLongf bytes = whole.size();
  uLong taken = compressed.size();
  const int status = ::uncompress2(reinterpret_cast<Bytef*>(whole.data()), &bytes,
                                   reinterpret_cast<const Bytef*>(compressed.data()), &taken);
  if (status == Z_BUF_ERROR)
    return "they are cut off, or more than the stated " + std::to_string(whole.size()) + " bytes";
  if (status != Z_OK) return "zlib says: " + std::string(::zError(status));
  if (taken != compressed.size()) return std::to_string(compressed.size() - taken) + " bytes are left behind them";
  written = bytes;
  return std::nullopt;
}
constexpr Decompressor zlib{.is_built_in = true, .most_bytes = most_bytes_of_zlib, .fill = fill_by_zlib};
#else
constexpr Decompressor zlib{};
#endif

#ifdef FASTDISPATCH_ZSTD
// Nothing limits the ratio of zstd, but a frame tells its size, except where it was written piece by piece.
std::optional<std::uint64_t> most_bytes_of_zstd(std::span<const std::byte> compressed) {
  const unsigned long long bytes = ::ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (bytes == ZSTD_CONTENTSIZE_UNKNOWN || bytes == ZSTD_CONTENTSIZE_ERROR) return std::nullopt;
  return bytes;
}

std::optional<std::string> fill_by_zstd(std::span<const std::byte> compressed, std::span<std::byte> whole,
                                        std::size_t& written) {
  written = ::ZSTD_decompress(whole.data(), whole.size(), compressed.data(), compressed.size());
  if (::ZSTD_isError(written) != 0) return "zstd says: " + std::string(::ZSTD_getErrorName(written));
  return std::nullopt;
}
constexpr Decompressor zstd{.is_built_in = true, .most_bytes = most_bytes_of_zstd, .fill = fill_by_zstd};
#else
constexpr Decompressor zstd{};
#endif

constexpr const Decompressor& decompressor(Compression method) { return method == Compression::zlib ? zlib : zstd; }

}  // namespace

std::string_view to_string(Compression method) { return method == Compression::zlib ? "zlib" : "zstd"; }

bool is_built_in(Compression method) { return decompressor(method).is_built_in; }

std::optional<std::uint64_t> most_decompressed_bytes(Compression method, std::span<const std::byte> compressed) {
  return decompressor(method).most_bytes(compressed);
}

std::optional<std::string> decompress(Compression method, std::span<const std::byte> compressed,
                                      std::span<std::byte> whole) {
  std::size_t written = 0;
  if (auto wrong = decompressor(method).fill(compressed, whole, written)) return wrong;
  if (written == whole.size()) return std::nullopt;
  return "they are " + std::to_string(written) + " bytes, not the stated " + std::to_string(whole.size());
}

}  // namespace fastdispatch::detail
