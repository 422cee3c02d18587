// Text with fields between commas, line by line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

/// A file that is read from its beginning to its end, and knows its line. Fields may be in double quotes, and a quote
/// in them is written twice. Blanks around fields do not count. Everything throws std::runtime_error, which names the
/// file.
class CsvFile {
public:
  explicit CsvFile(std::filesystem::path path);

  /// Reads the fields of the next line that is not blank; false at the end of the file.
  [[nodiscard]] bool read(std::vector<std::string>& fields);

  [[noreturn]] void fail(const std::string& what) const;
  /// Names the line that was read last.
  [[noreturn]] void fail_in_line(const std::string& what) const;
  /// Names the column, too; here it counts from 0, in the message from 1.
  [[noreturn]] void fail_in_column(std::size_t column, const std::string& what) const;

private:
  void split(std::string_view line, std::vector<std::string>& fields) const;
  std::size_t read_quoted(std::string_view line, std::size_t position, std::string& field, std::size_t column) const;

  std::filesystem::path path_;
  std::ifstream stream_;
  std::string line_;
  std::size_t line_number_ = 0;
};
