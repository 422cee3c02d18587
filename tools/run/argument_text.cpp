#include "argument_text.hpp"

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <string_view>

#include <spdlog/fmt/fmt.h>

namespace {

bool names_a_file(std::string_view contents) { return contents.ends_with(".npy"); }

std::vector<std::size_t> parse_extents(const std::string& text, std::string_view list) {
  std::vector<std::size_t> extents;
  while (!list.empty()) {
    std::size_t extent = 0;
    const auto [rest, error] = std::from_chars(list.data(), list.data() + list.size(), extent);
    list.remove_prefix(static_cast<std::size_t>(rest - list.data()));
    if (error != std::errc() || (!list.empty() && list.front() != ',') || list == ",")
      throw std::runtime_error(fmt::format("'{}': the extents are numbers with commas between: f32[4,5]", text));
    if (extent == 0) throw std::runtime_error(fmt::format("'{}': an extent is 0", text));
    if (!list.empty()) list.remove_prefix(1);
    extents.push_back(extent);
  }
  return extents;
}

void parse_type(const std::string& text, std::string_view type, ArgumentText& argument) {
  if (type == "local") {
    argument.kind = ArgumentText::Kind::local_memory;
    return;
  }
  const std::size_t bracket = std::min(type.find('['), type.size());
  const auto element_type = element_type_of(type.substr(0, bracket));
  if (!element_type)
    throw std::runtime_error(
        fmt::format("'{}': '{}' is no type; the types are {}, arrays of them such as f32[1024] or f32[4,5], and local",
                    text, type.substr(0, bracket), element_type_names()));
  argument.type = *element_type;
  if (bracket == type.size()) return;
  if (!type.ends_with(']')) throw std::runtime_error(fmt::format("'{}': the ']' of the extents is missing", text));
  argument.kind = ArgumentText::Kind::array;
  argument.extents = parse_extents(text, type.substr(bracket + 1, type.size() - bracket - 2));
}

}  // namespace

ArgumentText parse_argument(const std::string& text) {
  ArgumentText argument;
  std::string_view type = text;
  const std::size_t equals = type.find('=');
  if (equals != std::string_view::npos) {
    argument.contents = type.substr(equals + 1);
    type = type.substr(0, equals);
    if (argument.contents.empty()) throw std::runtime_error(fmt::format("'{}': nothing follows the '='", text));
  }
  if (const std::size_t colon = type.find(':'); colon != std::string_view::npos) {
    argument.name = type.substr(0, colon);
    type = type.substr(colon + 1);
    if (argument.name.empty()) throw std::runtime_error(fmt::format("'{}': the name before the ':' is empty", text));
  }
  parse_type(text, type, argument);

  if (argument.kind != ArgumentText::Kind::array && argument.contents.empty())
    throw std::runtime_error(fmt::format("'{}': it has no value; {}=5 has", text, type));
  if (argument.kind == ArgumentText::Kind::array && argument.extents.empty() && !names_a_file(argument.contents))
    throw std::runtime_error(
        fmt::format("'{}': only an array from a .npy file has its extents from there; say them: {}[1024]", text,
                    name_of(argument.type)));
  return argument;
}
