#include "source_text.hpp"

#include <fstream>
#include <system_error>

namespace {

std::string without_blanks_around(const std::string& text) {
  constexpr const char* blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

std::string SourceText::line(const std::filesystem::path& file, std::size_t number) {
  const std::vector<std::string>& lines = lines_of(file);
  return number == 0 || number > lines.size() ? "" : lines[number - 1];
}

const std::vector<std::string>& SourceText::lines_of(const std::filesystem::path& file) {
  const auto [found, is_new] = files_.try_emplace(file);
  std::error_code ignored;
  if (is_new && std::filesystem::is_regular_file(file, ignored)) {
    std::ifstream stream(file);
    for (std::string text; std::getline(stream, text);) found->second.push_back(without_blanks_around(text));
  }
  return found->second;
}
