#include "argument.hpp"

#include "npy_file.hpp"

#include <algorithm>
#include <charconv>
#include <concepts>
#include <cstring>
#include <limits>
#include <stdexcept>

#include <spdlog/fmt/fmt.h>
#include <spdlog/fmt/ranges.h>

namespace {

template <class T>
T random_value(std::mt19937_64& generator) {
  // As many bits as the significand has, so that none is rounded up to 1.
  if constexpr (std::same_as<T, Half>) {
    return half_of(static_cast<float>(generator() >> 53) * 0x1p-11F);
  } else if constexpr (std::same_as<T, float>) {
    return static_cast<float>(generator() >> 40) * 0x1p-24F;
  } else if constexpr (std::same_as<T, double>) {
    return static_cast<double>(generator() >> 11) * 0x1p-53;
  } else {
    return static_cast<T>(generator());
  }
}

template <class T>
T iota_value(std::size_t index) {
  if constexpr (std::same_as<T, Half>)
    return half_of(static_cast<float>(index));
  else
    return static_cast<T>(index);
}

template <class T>
T parse_number(std::string_view text) {
  if constexpr (std::same_as<T, Half>) {
    return half_of(parse_number<float>(text));
  } else {
    T value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc() && rest == text.data() + text.size()) return value;
    if constexpr (std::integral<T>)
      throw std::runtime_error(fmt::format("'{}' is no whole number from {} to {}", text, std::numeric_limits<T>::min(),
                                           std::numeric_limits<T>::max()));
    else
      throw std::runtime_error(fmt::format("'{}' is no number", text));
  }
}

/// With commas between.
template <class T>
std::vector<T> parse_numbers(std::string_view text) {
  std::vector<T> numbers;
  for (;;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    numbers.push_back(parse_number<T>(text.substr(0, comma)));
    if (comma == text.size()) return numbers;
    text.remove_prefix(comma + 1);
  }
}

template <class T, class Make>
void fill(std::vector<std::byte>& bytes, Make make) {
  for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    const T value = make(i);
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof value);
  }
}

template <class T>
void fill_as(const std::string& contents, std::vector<std::byte>& bytes, std::mt19937_64& generator) {
  if (contents.empty() || contents == "zeros") return;
  if (contents == "random") return fill<T>(bytes, [&](std::size_t) { return random_value<T>(generator); });
  if (contents == "iota") return fill<T>(bytes, [](std::size_t i) { return iota_value<T>(i); });
  const std::vector<T> values = parse_numbers<T>(contents);
  const std::size_t elements = bytes.size() / sizeof(T);
  if (values.size() != 1 && values.size() != elements)
    throw std::runtime_error(fmt::format("'{}' are {} numbers for {} elements", contents, values.size(), elements));
  fill<T>(bytes, [&](std::size_t i) { return values.size() == 1 ? values.front() : values[i]; });
}

/// A value: the members of a structure that all have its type, or one number.
std::size_t members_of(const ArgumentText& text) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.contents, ','));
}

Array array_of_file(const ArgumentText& text) {
  Array array = read_npy(text.contents);
  const bool any_extents = text.extents.empty();
  if (array.type != text.type || (!any_extents && array.extents != text.extents))
    throw std::runtime_error(fmt::format("{} holds {}, and the argument is {}[{}]", text.contents, text_of_type(array),
                                         name_of(text.type), fmt::join(text.extents, ",")));
  if (array.bytes.empty()) throw std::runtime_error(fmt::format("{} holds no elements", text.contents));
  return array;
}

/// Of members that the signature has no better word for.
struct Structure {};

}  // namespace

fastdispatch::ParameterType Argument::parameter_type() const {
  if (kind == ArgumentText::Kind::local_memory) return fastdispatch::parameter_type<fastdispatch::LocalMemory>();
  if (kind == ArgumentText::Kind::value && array.size() > 1) {
    fastdispatch::ParameterType type = fastdispatch::parameter_type<Structure>();
    type.size = array.bytes.size();
    return type;
  }
  return with_element_type(array.type, [&](auto element) {
    using Element = decltype(element);
    return kind == ArgumentText::Kind::array ? fastdispatch::parameter_type<Element*>()
                                             : fastdispatch::parameter_type<Element>();
  });
}

Argument make_argument(const ArgumentText& text, std::mt19937_64& generator) {
  Argument argument{
      .name = text.name, .kind = text.kind, .array = {.type = text.type, .extents = text.extents, .bytes = {}}};
  if (text.kind == ArgumentText::Kind::local_memory) {
    argument.local.bytes = parse_number<std::uint32_t>(text.contents);
  } else if (text.kind == ArgumentText::Kind::array && text.contents.ends_with(".npy")) {
    argument.array = array_of_file(text);
  } else {
    const std::size_t members = text.kind == ArgumentText::Kind::value ? members_of(text) : 1;
    argument.array.bytes.resize(members * bytes_of(text.type, text.extents));
    with_element_type(
        text.type, [&](auto element) { fill_as<decltype(element)>(text.contents, argument.array.bytes, generator); });
  }
  return argument;
}
