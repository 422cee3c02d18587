#include "npy_file.hpp"

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace {

static_assert(std::endian::native == std::endian::little, "elements are in files as they are in memory");

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t header_at = 10;     // behind the magic, the version and the header's length
constexpr std::size_t alignment_of = 64;  // where the elements begin

/// A header is a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class HeaderReader {
public:
  HeaderReader(std::string file, std::string_view text) : file_(std::move(file)), text_(text) {}

  [[noreturn]] void fail(const std::string& what) const { throw std::runtime_error(file_ + ": " + what); }

  [[nodiscard]] ElementType element_type() const {
    std::string_view value = value_of("descr");
    if (value.size() < 3 || (value[0] != '\'' && value[0] != '"'))
      fail("its elements have several fields; arrays of plain numbers are read");
    value = value.substr(1, value.find(value[0], 1) - 1);
    if (value.starts_with('>'))
      fail(fmt::format("its elements, {}, are big-endian; little-endian ones are read", printable(value)));
    const auto type = element_type_of_numpy(value);
    if (!type)
      fail(fmt::format("its elements are of NumPy's type {}; those read are {}", printable(value),
                       element_type_names()));
    return *type;
  }

  void check_order() const {
    const std::string_view value = value_of("fortran_order");
    if (value.starts_with("True"))
      fail("its elements are column after column (Fortran's order); save it through numpy.ascontiguousarray");
    if (!value.starts_with("False")) fail("its header has no 'fortran_order' of True or False");
  }

  [[nodiscard]] std::vector<std::size_t> extents() const {
    std::string_view value = value_of("shape");
    const std::size_t end = value.find(')');
    if (!value.starts_with('(') || end == std::string_view::npos) fail("its header has a 'shape' that is no tuple");
    value = value.substr(1, end - 1);
    std::vector<std::size_t> extents;
    while (value.find_first_not_of(' ') != std::string_view::npos) {
      value.remove_prefix(value.find_first_not_of(' '));
      std::size_t extent = 0;
      const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), extent);
      if (error != std::errc()) fail("its header has an extent that is no size");
      extents.push_back(extent);
      value.remove_prefix(static_cast<std::size_t>(rest - value.data()));
      if (!value.empty() && value.front() != ',') fail("its header has an extent that is no size");
      if (!value.empty()) value.remove_prefix(1);
    }
    return extents;
  }

  [[nodiscard]] std::size_t size_of_elements(const Array& array) const {
    try {
      return bytes_of(array.type, array.extents);
    } catch (const std::runtime_error& error) {
      fail(error.what());
    }
  }

private:
  /// What follows the key.
  [[nodiscard]] std::string_view value_of(std::string_view key) const {
    for (const char quote : {'\'', '"'}) {
      const std::string quoted = fmt::format("{0}{1}{0}", quote, key);
      const std::size_t at = text_.find(quoted);
      if (at == std::string_view::npos) continue;
      const std::size_t value = text_.find_first_not_of(" :", at + quoted.size());
      if (value != std::string_view::npos) return text_.substr(value);
    }
    fail(fmt::format("its header has no '{}'", key));
  }

  static std::string printable(std::string_view text) {
    std::string result = fmt::format("'{}'", text.substr(0, 40));
    for (char& letter : result) {
      if (letter < ' ' || letter > '~') letter = '?';
    }
    return result;
  }

  std::string file_;
  std::string_view text_;
};

std::string contents_of(const std::filesystem::path& path) {
  std::error_code ignored;
  errno = std::filesystem::is_directory(path, ignored) ? EISDIR : 0;
  std::ifstream stream(path, std::ios::binary);
  if (!stream || errno == EISDIR)
    throw std::runtime_error(fmt::format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

Array read_npy(const std::filesystem::path& path) {
  const std::string file = contents_of(path);
  const std::string_view contents = file;
  HeaderReader whole(path.string(), contents);
  if (!contents.starts_with(magic)) whole.fail("this is no .npy file: it does not begin with \\x93NUMPY");
  if (contents.size() < header_at) whole.fail("the file ends within its header");
  const int version = static_cast<unsigned char>(contents[magic.size()]);
  if (version != 1)
    whole.fail(fmt::format("it has version {} of the format; version 1 is read, which NumPy writes for plain numbers",
                           version));
  std::uint16_t header_size = 0;
  std::memcpy(&header_size, &contents[magic.size() + 2], sizeof header_size);
  if (contents.size() - header_at < header_size) whole.fail("the file ends within its header");

  const HeaderReader header(path.string(), contents.substr(header_at, header_size));
  header.check_order();
  Array array{.type = header.element_type(), .extents = header.extents(), .bytes = {}};
  const std::string_view elements = contents.substr(header_at + header_size);
  const std::size_t wanted = header.size_of_elements(array);
  if (elements.size() != wanted)
    header.fail(
        fmt::format("{} takes {} bytes, and {} follow the header", text_of_type(array), wanted, elements.size()));
  const auto bytes = std::as_bytes(std::span(elements));
  array.bytes.assign(bytes.begin(), bytes.end());
  return array;
}

std::string npy_of(const Array& array) {
  std::string shape = fmt::format("{}", fmt::join(array.extents, ", "));
  if (array.extents.size() == 1) shape += ",";  // a tuple of one, in Python
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", numpy_name_of(array.type), shape);
  const std::size_t unpadded = header_at + header.size() + 1;
  header.append((alignment_of - unpadded % alignment_of) % alignment_of, ' ');
  header += '\n';

  const auto size = static_cast<std::uint16_t>(header.size());
  std::string file(magic);
  file += '\x01';
  file += '\0';
  file += static_cast<char>(size & 0xff);
  file += static_cast<char>(size >> 8);
  file += header;
  file.append(reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size());
  return file;
}
