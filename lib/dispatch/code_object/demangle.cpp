#include "dispatch/code_object/demangle.hpp"

#include "dispatch/code_object/name_parser.hpp"

namespace fastdispatch::detail {
namespace {

// Looks through qualifiers and arrays. `is_const` becomes true if one of the qualifiers is const.
NameId unqualified(const NameTree& tree, NameId id, bool& is_const) {
  while (tree[id].kind == NameKind::qualified || tree[id].kind == NameKind::array) {
    if (tree[id].text.ends_with(" const")) is_const = true;
    id = tree[id].children[0];
  }
  return id;
}

SourceType source_type_of(const NameTree& tree, NameId id) {
  SourceType type{.text = text_of(tree, id), .text_const_left = text_of(tree, id, ConstAt::left)};
  bool ignored = false;
  NameId inner = unqualified(tree, id, ignored);
  while (tree[inner].kind == NameKind::pointer) {
    inner = unqualified(tree, tree[inner].children[0], type.pointers == 0 ? type.points_to_const : ignored);
    ++type.pointers;
  }
  type.type_class = tree[inner].type_class;
  type.bytes = tree[inner].bytes;
  type.is_raw = tree[inner].text == "char" || tree[inner].text == "unsigned char";
  return type;
}

}  // namespace

std::string SourceName::text(ConstAt const_at) const {
  std::string list;
  for (const SourceType& parameter : parameters) {
    if (!list.empty()) list += ", ";
    list += const_at == ConstAt::right ? parameter.text : parameter.text_const_left;
  }
  return name + "(" + list + ")" + (clone.empty() ? "" : " [clone " + clone + "]");
}

std::optional<SourceName> source_name(std::string_view mangled) {
  if (!mangled.starts_with("_Z")) return {};
  try {
    NameTree tree(mangled.size());
    NameParser parser(tree, mangled);
    const FunctionNode function = parser.function();
    SourceName source{.name = text_of(tree, function.name), .clone = std::string(parser.rest())};
    if (!source.clone.empty() && !source.clone.starts_with('.')) return {};
    const NameNode& name = tree[function.name];
    source.template_name = name.kind == NameKind::instance ? text_of(tree, name.children[0]) : source.name;
    for (const NameId parameter : function.parameters) source.parameters.push_back(source_type_of(tree, parameter));
    return source;
  } catch (const NotUnderstood&) {
    return {};
  }
}

std::optional<SourceType> source_type(std::string_view mangled) {
  try {
    NameTree tree(mangled.size());
    NameParser parser(tree, mangled);
    const NameId type = parser.type();
    if (!parser.rest().empty()) return {};
    return source_type_of(tree, type);
  } catch (const NotUnderstood&) {
    return {};
  }
}

std::string demangle(std::string_view name) {
  const std::optional<SourceName> source = source_name(name);
  return source ? source->text() : std::string(name);
}

}  // namespace fastdispatch::detail
