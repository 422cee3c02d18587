#include "number_file.hpp"

#include "input_line.hpp"

#include <bit>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace fs = std::filesystem;

namespace {

static_assert(std::endian::native == std::endian::little, ".u32 files are copied as they are");

constexpr std::string_view blanks = " \t\r";  // a carriage return: files from Windows are read too
constexpr std::uint32_t largest = std::numeric_limits<std::uint32_t>::max();

bool is_raw(const fs::path& path) { return path.extension() == ".u32"; }

[[noreturn]] void fail(const fs::path& path, const std::string& what) {
  throw std::runtime_error("cannot read " + path.string() + ": " + what);
}

constexpr std::size_t most_numbers = largest_input / sizeof(std::uint32_t);

[[noreturn]] void fail_too_large(const fs::path& path) { fail(path, "it holds more than 2 GiB of numbers"); }

std::string system_message() { return std::generic_category().message(errno); }

std::string printable(char c) {
  if (std::isprint(static_cast<unsigned char>(c)) != 0) return std::string("'") + c + "'";
  constexpr std::string_view hex = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string("the byte 0x") + hex[byte >> 4] + hex[byte & 15];
}

class LineParser {
public:
  LineParser(const fs::path& path, std::size_t line_number, std::string_view line)
      : path_(path), line_number_(line_number), line_(line) {}

  [[nodiscard]] bool is_blank() const { return line_.find_first_not_of(blanks) == std::string_view::npos; }
  [[noreturn]] void fail_blank() const { fail_at(0, "the line is empty"); }

  [[nodiscard]] std::uint32_t number() const {
    const std::size_t begin = line_.find_first_not_of(blanks);
    std::uint32_t value = 0;
    const char* const first = line_.data() + begin;
    const auto [rest, error] = std::from_chars(first, line_.data() + line_.size(), value);
    const auto end = static_cast<std::size_t>(rest - line_.data());
    if (error == std::errc::invalid_argument) fail_at(begin, printable(*first) + " starts no unsigned integer");
    if (error == std::errc::result_out_of_range) {
      fail_at(begin, "a number is larger than " + std::to_string(largest));
    }
    const std::size_t excess = line_.find_first_not_of(blanks, end);
    if (excess != std::string_view::npos) fail_at(excess, printable(line_[excess]) + " follows the line's number");
    return value;
  }

private:
  [[noreturn]] void fail_at(std::size_t position, const std::string& what) const {
    throw std::runtime_error(path_.string() + ", line " + std::to_string(line_number_) + ", column " +
                             std::to_string(position + 1) + ": " + what);
  }

  const fs::path& path_;
  std::size_t line_number_;
  std::string_view line_;
};

std::vector<std::uint32_t> read_text(std::ifstream& stream, const fs::path& path) {
  std::vector<std::uint32_t> numbers;
  std::string line;
  std::size_t blank_line = 0;  // the first, behind which there may be nothing but others; 0: none yet
  for (std::size_t line_number = 1; read_input_line(stream, line, path); ++line_number) {
    if (line_number == 1) drop_byte_order_mark(line);
    const LineParser parser(path, line_number, line);
    if (parser.is_blank()) {
      if (blank_line == 0) blank_line = line_number;
      continue;
    }
    if (blank_line != 0) LineParser(path, blank_line, {}).fail_blank();
    if (numbers.size() == most_numbers) fail_too_large(path);
    numbers.push_back(parser.number());
  }
  return numbers;
}

std::vector<std::uint32_t> read_raw(std::ifstream& stream, const fs::path& path) {
  constexpr std::size_t chunk = std::size_t{1} << 18;
  std::vector<std::uint32_t> numbers;
  std::size_t bytes = 0;
  while (stream) {
    if (bytes > largest_input) fail_too_large(path);
    numbers.resize(bytes / sizeof(std::uint32_t) + chunk);
    stream.read(reinterpret_cast<char*>(numbers.data()) + bytes, chunk * sizeof(std::uint32_t));
    bytes += static_cast<std::size_t>(stream.gcount());
  }
  if (bytes % sizeof(std::uint32_t) != 0) {
    fail(path, "its " + std::to_string(bytes) + " bytes are no whole number of 32-bit integers");
  }
  numbers.resize(bytes / sizeof(std::uint32_t));
  return numbers;
}

}  // namespace

std::vector<std::uint32_t> read_numbers(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) fail(path, system_message());
  errno = 0;
  std::vector<std::uint32_t> numbers = is_raw(path) ? read_raw(stream, path) : read_text(stream, path);
  if (stream.bad()) fail(path, system_message());
  if (numbers.empty()) fail(path, "it holds no numbers");
  return numbers;
}

void write_numbers(OutputFile& file, const fs::path& path, std::span<const std::uint32_t> numbers) {
  if (is_raw(path)) {
    file.write({reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes()});
    return;
  }
  for (const std::uint32_t number : numbers) {
    char line[std::numeric_limits<std::uint32_t>::digits10 + 2];
    char* const end = std::to_chars(line, line + sizeof line - 1, number).ptr;
    *end = '\n';
    file.write({line, end + 1});
  }
}
