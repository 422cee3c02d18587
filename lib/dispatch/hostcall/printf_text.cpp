#include "dispatch/hostcall/printf_text.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include <wchar.h>

#include "dispatch/hostcall/abi.hpp"

namespace fastdispatch::detail::hostcall {
namespace {

constexpr int widest = 65535;  // characters of width or precision; C asks for 4095

// Reads words and texts one after the other.
class Words {
public:
  explicit Words(std::span<const std::uint64_t> words) : words_(words) {}

  [[nodiscard]] bool empty() const { return words_.empty(); }
  [[nodiscard]] std::uint64_t number() {
    const std::uint64_t word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }
  // Up to its terminating zero, or to the message's end.
  [[nodiscard]] std::string text() {
    const auto* begin = reinterpret_cast<const char*>(words_.data());
    std::string result(begin, strnlen(begin, words_.size_bytes()));
    const std::size_t padded = result.size() / sizeof(std::uint64_t) + 1;  // there is always a zero
    words_ = words_.subspan(std::min(padded, words_.size()));
    return result;
  }

private:
  std::span<const std::uint64_t> words_;
};

// %[flags][width][.precision][length]conversion
struct Specifier {
  std::string_view text;  // all of it
  std::string flags;
  std::optional<int> width;
  std::optional<int> precision;
  bool width_is_argument = false;
  bool precision_is_argument = false;
  std::string_view length;
  char conversion = 0;

  [[nodiscard]] bool is_long() const { return !length.empty() && length[0] != 'h'; }
};

class SpecifierReader {
public:
  explicit SpecifierReader(std::string_view text) : text_(text) {}

  // Of the text that begins with '%'. Nothing if it is no specifier.
  [[nodiscard]] std::optional<Specifier> read() {
    Specifier result;
    at_ = 1;
    const std::size_t flags_end = std::min(text_.find_first_not_of("-+ #0", at_), text_.size());
    result.flags = text_.substr(at_, flags_end - at_);
    at_ = flags_end;
    if (!take('*', result.width_is_argument) && !read_number(result.width)) return std::nullopt;
    if (bool has_precision = false; take('.', has_precision)) {
      result.precision = 0;
      if (!take('*', result.precision_is_argument) && !read_number(result.precision)) return std::nullopt;
    }
    for (const std::string_view length : {"hh", "h", "ll", "l", "q", "j", "z", "t", "L"}) {
      if (!text_.substr(at_).starts_with(length)) continue;
      result.length = length;
      at_ += length.size();
      break;
    }
    if (at_ == text_.size() || std::string_view("diouxXcfFeEgGaAspn").find(text_[at_]) == std::string_view::npos)
      return std::nullopt;
    result.conversion = text_[at_];
    result.text = text_.substr(0, at_ + 1);
    return result;
  }

private:
  bool take(char c, bool& taken) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    taken = true;
    return true;
  }
  // False if the number is too great. No number is 0 or nothing.
  bool read_number(std::optional<int>& number) {
    int value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (end == text_.data() + at_ || text_[at_] == '-') return true;
    if (error != std::errc() || value > widest) return false;
    at_ = static_cast<std::size_t>(end - text_.data());
    number = value;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

class Formatter {
public:
  explicit Formatter(Words arguments) : arguments_(arguments) {}

  [[nodiscard]] std::string format(std::string_view format) {
    while (!format.empty()) {
      const std::size_t literal = std::min(format.find('%'), format.size());
      text_ += format.substr(0, literal);
      format.remove_prefix(literal);
      if (format.empty()) break;
      if (format.starts_with("%%")) {
        text_ += '%';
        format.remove_prefix(2);
        continue;
      }
      auto specifier = SpecifierReader(format).read();
      const std::string_view as_it_stands = specifier ? specifier->text : format.substr(0, 1);
      if (!specifier || !convert(*specifier)) text_ += as_it_stands;
      format.remove_prefix(as_it_stands.size());
    }
    return std::move(text_);
  }

private:
  // False if arguments are missing or out of range.
  bool convert(Specifier& specifier) {
    if (specifier.width_is_argument && !take_width(specifier)) return false;
    if (specifier.precision_is_argument && !take_precision(specifier)) return false;
    if (arguments_.empty()) return false;
    switch (specifier.conversion) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (specifier.is_long()) return append(specifier, "ll", static_cast<long long>(arguments_.number()));
      return append(specifier, specifier.length, static_cast<int>(arguments_.number()));
    case 'c':
      if (specifier.is_long()) return append(specifier, "l", static_cast<wint_t>(arguments_.number()));
      return append(specifier, "", static_cast<int>(arguments_.number()));
    case 's':
      return append(specifier, "", arguments_.text().c_str());
    case 'p':
      return append(specifier, "", std::bit_cast<const void*>(arguments_.number()));
    case 'n':
      static_cast<void>(arguments_.number());
      return true;
    default:  // the device's long double is a double
      return append(specifier, "", std::bit_cast<double>(arguments_.number()));
    }
  }

  bool take_width(Specifier& specifier) {
    if (arguments_.empty()) return false;
    const std::int64_t width = static_cast<int>(arguments_.number());
    if (width < 0) specifier.flags += '-';
    specifier.width = static_cast<int>(std::min<std::int64_t>(width < 0 ? -width : width, widest + 1));
    return specifier.width <= widest;
  }

  bool take_precision(Specifier& specifier) {
    if (arguments_.empty()) return false;
    const int precision = static_cast<int>(arguments_.number());
    specifier.precision = precision < 0 ? std::nullopt : std::optional(precision);
    return precision <= widest;
  }

  template <class Value>
  bool append(const Specifier& specifier, std::string_view length, Value value) {
    std::string one = "%" + specifier.flags;
    if (specifier.width) one += std::to_string(*specifier.width);
    if (specifier.precision) one += '.' + std::to_string(*specifier.precision);
    one += length;
    one += specifier.conversion;
    const int size = std::snprintf(nullptr, 0, one.c_str(), value);
    if (size < 0) return false;  // no character of the locale
    const std::size_t before = text_.size();
    text_.resize(before + static_cast<std::size_t>(size) + 1);
    std::snprintf(text_.data() + before, static_cast<std::size_t>(size) + 1, one.c_str(), value);
    text_.pop_back();
    return true;
  }

  Words arguments_;
  std::string text_;
};

}  // namespace

std::optional<PrintfText> printf_text(std::span<const std::uint64_t> message) {
  Words words(message);
  if (words.empty()) return std::nullopt;
  const std::uint64_t stream = words.number();
  if (words.empty() || (stream != to_stdout && stream != to_stderr)) return std::nullopt;
  const std::string format = words.text();
  return PrintfText{.stream = stream == to_stderr ? Stream::err : Stream::out, .text = Formatter(words).format(format)};
}

}  // namespace fastdispatch::detail::hostcall
