#include "input_line.hpp"

#include <stdexcept>
#include <string_view>

void drop_byte_order_mark(std::string& first_line) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (first_line.starts_with(mark)) first_line.erase(0, mark.size());
}

bool read_input_line(std::istream& stream, std::string& line, const std::filesystem::path& path) {
  line.resize(longest_input_line + 1);
  stream.getline(line.data(), static_cast<std::streamsize>(line.size()));
  const auto count = static_cast<std::size_t>(stream.gcount());
  if (stream.fail() && count == longest_input_line)
    throw std::runtime_error("cannot read " + path.string() + ": a line is longer than " +
                             std::to_string(longest_input_line) + " bytes, is it a text?");
  // The count includes the line's end, unless the file ended first.
  line.resize(stream.eof() || count == 0 ? count : count - 1);
  return !stream.fail();
}
