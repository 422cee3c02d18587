#include "csv_file.hpp"

#include "input_line.hpp"

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace {

constexpr std::string_view blanks = " \t\r";  // a carriage return: files from Windows are read too

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace

CsvFile::CsvFile(std::filesystem::path path) : path_(std::move(path)), stream_(path_, std::ios::binary) {
  if (!stream_) fail(std::generic_category().message(errno));
}

bool CsvFile::read(std::vector<std::string>& fields) {
  errno = 0;
  while (read_input_line(stream_, line_, path_)) {
    if (++line_number_ == 1) drop_byte_order_mark(line_);
    if (trimmed(line_).empty()) continue;
    split(line_, fields);
    return true;
  }
  if (stream_.bad()) fail(std::generic_category().message(errno));
  return false;
}

void CsvFile::split(std::string_view line, std::vector<std::string>& fields) const {
  fields.clear();
  for (std::size_t position = 0; position <= line.size();) {
    const std::size_t column = fields.size();
    std::string quoted;
    const std::size_t begin = std::min(line.find_first_not_of(blanks, position), line.size());
    if (line.substr(begin).starts_with('"')) position = read_quoted(line, begin + 1, quoted, column);
    const std::size_t end = std::min(line.find(',', position), line.size());
    const std::string_view rest = trimmed(line.substr(position, end - position));
    if (!quoted.empty() && !rest.empty()) fail_in_column(column, "something follows a quoted field");
    fields.push_back(quoted.empty() ? std::string(rest) : std::move(quoted));
    position = end + 1;
  }
}

// Returns where the line goes on behind the quote that ends the field.
std::size_t CsvFile::read_quoted(std::string_view line, std::size_t position, std::string& field,
                                 std::size_t column) const {
  for (;; ++position) {
    const std::size_t quote = line.find('"', position);
    if (quote == std::string_view::npos) fail_in_column(column, "a quote does not end");
    field += line.substr(position, quote - position);
    position = quote + 1;
    if (!line.substr(position).starts_with('"')) return position;
    field += '"';
  }
}

void CsvFile::fail(const std::string& what) const {
  throw std::runtime_error("cannot read " + path_.string() + ": " + what);
}

void CsvFile::fail_in_line(const std::string& what) const {
  throw std::runtime_error(path_.string() + ", line " + std::to_string(line_number_) + ": " + what);
}

void CsvFile::fail_in_column(std::size_t column, const std::string& what) const {
  throw std::runtime_error(path_.string() + ", line " + std::to_string(line_number_) + ", column " +
                           std::to_string(column + 1) + ": " + what);
}
