#include "dispatch/code_object/uncompressed_file.hpp"

#include <cstring>
#include <new>
#include <string>

#include <spdlog/fmt/fmt.h>

#include "dispatch/code_object/byte_reader.hpp"
#include "dispatch/hsa/log.hpp"
#include "fastdispatch/error.hpp"

namespace fastdispatch::detail {
namespace {

constexpr std::string_view compressed_magic = "CCOB";
constexpr std::uint64_t largest_bundle = std::uint64_t{1} << 34U;  // version 3 is for those beyond 4 GiB

// clang's documentation of the offload bundler, "Compression and Decompression". Version 2 brought the file's size,
// version 3 sizes of 64 bits.
struct CompressedHeader {
  std::uint16_t version = 0;
  std::uint16_t method = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t uncompressed_bytes = 0;
  std::size_t header_bytes = 0;
};

// Reads one field after the other.
class FieldReader {
public:
  explicit FieldReader(const ByteReader& file) : file_(file) {}

  template <class T>
  [[nodiscard]] T next() {
    const T value = file_.read<T>(offset_, "header of a compressed offload bundle");
    offset_ += sizeof(T);
    return value;
  }
  [[nodiscard]] std::size_t offset() const { return offset_; }

private:
  const ByteReader& file_;
  std::size_t offset_ = compressed_magic.size();
};

CompressedHeader read_header(const ByteReader& file) {
  FieldReader fields(file);
  CompressedHeader header;
  header.version = fields.next<std::uint16_t>();
  if (header.version < 1 || header.version > 3)
    throw Error(
        fmt::format("{}: a compressed offload bundle of format version {}; versions 1 to 3 are supported; compile "
                    "with --no-offload-compress",
                    file.file(), header.version));
  const auto next_size = [&] {
    return header.version < 3 ? fields.next<std::uint32_t>() : fields.next<std::uint64_t>();
  };
  header.method = fields.next<std::uint16_t>();
  header.file_bytes = header.version == 1 ? file.size() : next_size();
  header.uncompressed_bytes = next_size();
  static_cast<void>(fields.next<std::uint64_t>());  // a hash of the bundle, which tools do not check either
  header.header_bytes = fields.offset();
  return header;
}

void check_header(const CompressedHeader& header, const ByteReader& file) {
  const auto fail = [&](const std::string& why) { file.fail("header of a compressed offload bundle", 0, why); };
  if (header.method != static_cast<std::uint16_t>(Compression::zlib) &&
      header.method != static_cast<std::uint16_t>(Compression::zstd))
    fail(fmt::format("the compression method {} is neither zlib (0) nor zstd (1)", header.method));
  if (header.file_bytes < header.header_bytes || header.file_bytes > file.size())
    fail(fmt::format("it says that the file has {} bytes, which has {}", header.file_bytes, file.size()));
  if (header.uncompressed_bytes > largest_bundle)
    fail(fmt::format("{} bytes are more than any bundle has", header.uncompressed_bytes));
}

std::unique_ptr<std::byte[]> decompressed(const CompressedHeader& header, const ByteReader& file) {
  const auto method = static_cast<Compression>(header.method);
  if (!is_built_in(method))
    throw Error(
        ErrorKind::runtime,
        fmt::format("{}: an offload bundle that is compressed by {}, and this fastdispatch was built without {}; "
                    "build it where {}'s headers are, or compile the kernels with --no-offload-compress",
                    file.file(), to_string(method), to_string(method), to_string(method)));
  const auto fail = [&](const std::string& why) {
    file.fail(fmt::format("data that {} compressed", to_string(method)), header.header_bytes, why);
  };
  const auto data =
      file.bytes(header.header_bytes, header.file_bytes - header.header_bytes, "compressed offload bundle");
  const auto most_bytes = most_decompressed_bytes(method, data);
  if (!most_bytes) fail("they do not tell their size");
  if (header.uncompressed_bytes > *most_bytes)
    fail(fmt::format("they cannot be the stated {} bytes, but {} at most", header.uncompressed_bytes, *most_bytes));

  std::unique_ptr<std::byte[]> bundle;
  try {
    bundle = std::make_unique_for_overwrite<std::byte[]>(header.uncompressed_bytes);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::out_of_memory,
                fmt::format("{}: there is no memory for the {} bytes of the compressed bundle", file.file(),
                            header.uncompressed_bytes));
  }
  const std::span<std::byte> whole(bundle.get(), header.uncompressed_bytes);
  if (const auto wrong = decompress(method, data, whole)) fail(*wrong);
  return bundle;
}

}  // namespace

UncompressedFile::UncompressedFile(std::span<const std::byte> file, std::string_view name) : bytes_(file) {
  if (file.size() < compressed_magic.size() ||
      std::memcmp(file.data(), compressed_magic.data(), compressed_magic.size()) != 0)
    return;
  const ByteReader reader(file, std::string(name));
  const CompressedHeader header = read_header(reader);
  check_header(header, reader);
  bundle_ = decompressed(header, reader);
  bytes_ = {bundle_.get(), header.uncompressed_bytes};
  compression_ = {.format_version = header.version,
                  .method = static_cast<Compression>(header.method),
                  .compressed_bytes = header.file_bytes,
                  .uncompressed_bytes = header.uncompressed_bytes};
  log().debug("{}: a bundle of {} bytes, compressed by {} to {}", name, header.uncompressed_bytes,
              to_string(compression_->method), header.file_bytes);
}

}  // namespace fastdispatch::detail
