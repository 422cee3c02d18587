#include "element_type.hpp"

#include <algorithm>
#include <array>

namespace {

struct Names {
  ElementType type;
  std::string_view name;
  std::string_view numpy_name;
};

constexpr std::array<Names, 11> all_names = {{
    {ElementType::i8, "i8", "|i1"},
    {ElementType::i16, "i16", "<i2"},
    {ElementType::i32, "i32", "<i4"},
    {ElementType::i64, "i64", "<i8"},
    {ElementType::u8, "u8", "|u1"},
    {ElementType::u16, "u16", "<u2"},
    {ElementType::u32, "u32", "<u4"},
    {ElementType::u64, "u64", "<u8"},
    {ElementType::f16, "f16", "<f2"},
    {ElementType::f32, "f32", "<f4"},
    {ElementType::f64, "f64", "<f8"},
}};

template <class Value>
const Names* find(Value Names::*member, Value value) {
  const auto* found = std::ranges::find(all_names, value, member);
  return found == all_names.end() ? nullptr : found;
}

}  // namespace

std::string_view name_of(ElementType type) { return find(&Names::type, type)->name; }

std::string_view numpy_name_of(ElementType type) { return find(&Names::type, type)->numpy_name; }

std::optional<ElementType> element_type_of(std::string_view name) {
  const Names* names = find(&Names::name, name);
  return names == nullptr ? std::nullopt : std::optional(names->type);
}

std::optional<ElementType> element_type_of_numpy(std::string_view numpy_name) {
  const Names* names = find(&Names::numpy_name, numpy_name);
  return names == nullptr ? std::nullopt : std::optional(names->type);
}

std::string element_type_names() {
  std::string text;
  for (const Names& names : all_names) text += (text.empty() ? "" : ", ") + std::string(names.name);
  return text;
}
