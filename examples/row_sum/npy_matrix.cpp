#include "npy_matrix.hpp"

#include <array>
#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little, "elements are read as they are in the file");

// A file that is read from its beginning to its end, and knows its position.
class ByteStream {
public:
  explicit ByteStream(fs::path path) : path_(std::move(path)), stream_(path_, std::ios::binary) {
    if (!stream_) throw std::runtime_error("cannot read " + path_.string() + ": " + system_message());
  }

  // Reads all of `bytes`, which hold `what`.
  void read(std::span<char> bytes, const char* what) {
    errno = 0;
    stream_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto count = static_cast<std::size_t>(stream_.gcount());
    if (stream_.bad()) throw std::runtime_error("cannot read " + path_.string() + ": " + system_message());
    if (count < bytes.size()) fail_at(position_ + count, std::string("the file ends within ") + what);
    position_ += count;
  }

  [[nodiscard]] bool at_end() { return stream_.peek() == std::ifstream::traits_type::eof(); }
  [[nodiscard]] std::size_t position() const { return position_; }

  [[noreturn]] void fail_at(std::size_t byte, const std::string& what) const {
    throw std::runtime_error(path_.string() + ", byte " + std::to_string(byte) + ": " + what);
  }

private:
  static std::string system_message() { return std::generic_category().message(errno); }

  fs::path path_;
  std::ifstream stream_;
  std::size_t position_ = 0;
};

template <class T>
double widened(const char* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

struct ElementType {
  std::string_view name;
  std::size_t size;
  double (*value)(const char* bytes);
};

constexpr std::array<ElementType, 11> element_types = {{
    {"<f4", 4, widened<float>},
    {"<f8", 8, widened<double>},
    {"|b1", 1, widened<std::uint8_t>},
    {"|i1", 1, widened<std::int8_t>},
    {"|u1", 1, widened<std::uint8_t>},
    {"<i2", 2, widened<std::int16_t>},
    {"<u2", 2, widened<std::uint16_t>},
    {"<i4", 4, widened<std::int32_t>},
    {"<u4", 4, widened<std::uint32_t>},
    {"<i8", 8, widened<std::int64_t>},
    {"<u8", 8, widened<std::uint64_t>},
}};

struct Header {
  const ElementType* type = nullptr;
  std::optional<bool> by_columns;  // NumPy's Fortran order
  std::vector<std::size_t> shape;
  bool has_shape = false;
};

// The header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
public:
  HeaderParser(const ByteStream& stream, std::string_view text)
      : stream_(stream), text_(text), start_(stream.position() - text.size()) {}

  [[nodiscard]] Header parse() {
    expect('{');
    while (!accept('}')) {
      const std::size_t at = next();
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        header_.type = &element_type();
      } else if (key == "fortran_order") {
        header_.by_columns = boolean();
      } else if (key == "shape") {
        parse_shape();
      } else {
        fail_at(at, "an unknown key, '" + printable(key) + "'");
      }
      if (!accept(',') && (next() == text_.size() || text_[position_] != '}')) fail("a ',' or '}' is missing");
    }
    if (next() != text_.size()) fail("something follows the dictionary");
    if (header_.type == nullptr) fail_at(0, "the header has no 'descr'");
    if (!header_.by_columns) fail_at(0, "the header has no 'fortran_order'");
    if (!header_.has_shape) fail_at(0, "the header has no 'shape'");
    return header_;
  }

private:
  // Skips blanks; returns where the next token begins.
  std::size_t next() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0) ++position_;
    return position_;
  }

  [[nodiscard]] bool accept(char token) {
    if (next() == text_.size() || text_[position_] != token) return false;
    ++position_;
    return true;
  }

  void expect(char token) {
    if (!accept(token)) fail(std::string("a '") + token + "' is missing");
  }

  [[nodiscard]] bool accept(std::string_view word) {
    if (!text_.substr(next()).starts_with(word)) return false;
    position_ += word.size();
    return true;
  }

  std::string_view quoted() {
    const char quote = accept('"') ? '"' : '\'';
    if (quote == '\'') expect('\'');
    const std::size_t end = text_.find(quote, position_);
    if (end == std::string_view::npos) fail("a quote does not end");
    const std::string_view result = text_.substr(position_, end - position_);
    position_ = end + 1;
    return result;
  }

  const ElementType& element_type() {
    const std::size_t at = next();
    if (accept('[')) fail_at(at, "elements with several fields are not read");
    const std::string_view name = quoted();
    for (const ElementType& type : element_types) {
      if (type.name == name) return type;
    }
    if (name.starts_with('>')) fail_at(at, "big-endian elements, '" + printable(name) + "', are not read");
    fail_at(at, "elements of type '" + printable(name) + "' are not read; f4, f8 and integers are");
  }

  bool boolean() {
    if (accept("True")) return true;
    if (accept("False")) return false;
    fail("neither True nor False");
  }

  void parse_shape() {
    expect('(');
    header_.has_shape = true;
    const std::size_t at = position_;
    while (!accept(')')) {
      next();
      std::size_t& extent = header_.shape.emplace_back();
      const auto [end, error] = std::from_chars(text_.data() + position_, text_.data() + text_.size(), extent);
      if (error != std::errc()) fail("the shape has an extent that is no size");
      position_ = static_cast<std::size_t>(end - text_.data());
      if (!accept(',') && (next() == text_.size() || text_[position_] != ')')) fail("a ',' or ')' is missing");
    }
    if (header_.shape.size() != 2) {
      fail_at(at, "the array has " + std::to_string(header_.shape.size()) + " dimensions; a matrix has 2");
    }
    for (const std::size_t extent : header_.shape) {
      if (extent == 0) fail_at(at, "the matrix has no elements");
      if (extent > most_rows) fail_at(at, "more than " + std::to_string(most_rows) + " rows or columns");
    }
  }

  static std::string printable(std::string_view text) {
    std::string result(text.substr(0, 40));
    for (char& letter : result) {
      if (std::isprint(static_cast<unsigned char>(letter)) == 0) letter = '?';
    }
    return result;
  }

  [[noreturn]] void fail(const std::string& what) { fail_at(next(), what); }
  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const {
    stream_.fail_at(start_ + position, what);
  }

  const ByteStream& stream_;
  std::string_view text_;
  std::size_t start_;
  std::size_t position_ = 0;
  Header header_;
};

Header read_header(ByteStream& stream) {
  constexpr std::string_view magic = "\x93NUMPY";
  std::array<char, magic.size() + 2> begin{};
  stream.read(begin, "its first 8 bytes");
  if (!std::string_view(begin.data(), begin.size()).starts_with(magic)) {
    stream.fail_at(0, "this is no .npy file: it does not begin with \\x93NUMPY");
  }
  const int version = static_cast<unsigned char>(begin[magic.size()]);
  if (version < 1 || version > 3) stream.fail_at(magic.size(), "version " + std::to_string(version) + " is not known");
  std::array<char, 4> length{};
  stream.read(std::span(length).first(version == 1 ? 2 : 4), "the header's length");
  std::uint32_t size = 0;
  std::memcpy(&size, length.data(), sizeof size);
  // A matrix's description takes some 80 bytes, padded to a multiple of 64; the format allows 4 GiB.
  constexpr std::uint32_t longest_header = 65536;
  if (size > longest_header) stream.fail_at(8, "a header of " + std::to_string(size) + " bytes describes no matrix");
  std::string text(size, '\0');
  stream.read(text, "its header");
  return HeaderParser(stream, text).parse();
}

void read_elements(ByteStream& stream, const Header& header, std::span<float> elements) {
  const ElementType& type = *header.type;
  const std::size_t rows = header.shape[0];
  const std::size_t columns = header.shape[1];
  const std::size_t line = *header.by_columns ? rows : columns;  // the elements that lie together in the file
  std::vector<char> part(std::min(line, std::size_t{1} << 16U) * type.size);
  for (std::size_t done = 0; done < elements.size();) {
    const std::size_t line_number = done / line;
    const std::size_t offset = done % line;
    const std::size_t count = std::min(part.size() / type.size, line - offset);
    const std::size_t start = stream.position();
    stream.read(std::span(part).first(count * type.size), "its elements");
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t index = *header.by_columns ? (offset + i) * columns + line_number : done + i;
      elements[index] = static_cast<float>(type.value(&part[i * type.size]));
      if (!std::isfinite(elements[index])) {
        stream.fail_at(start + i * type.size, "row " + std::to_string(index / columns) + ", column " +
                                                  std::to_string(index % columns) + " is no finite float");
      }
    }
    done += count;
  }
  if (!stream.at_end()) stream.fail_at(stream.position(), "the file goes on after its last element");
}

}  // namespace

MatrixSource npy_matrix(const fs::path& path) {
  const auto stream = std::make_shared<ByteStream>(path);
  const Header header = read_header(*stream);
  return {.rows = header.shape[0],
          .columns = header.shape[1],
          .row_names = {},
          .write_to = [stream, header](std::span<float> elements) { read_elements(*stream, header, elements); }};
}
