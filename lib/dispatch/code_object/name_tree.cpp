#include "dispatch/code_object/name_tree.hpp"

#include <algorithm>
#include <utility>

namespace fastdispatch::detail {
namespace {

constexpr std::uint32_t max_depth = 256;

// Types of C++ are written around a name: `void (*)(int)` has a left and a right part.
class TextWriter {
public:
  TextWriter(const NameTree& tree, ConstAt const_at) : tree_(tree), const_at_(const_at) {}

  [[nodiscard]] std::string text(NameId id) && {
    whole(id);
    return std::move(text_);
  }

private:
  void put(std::string_view text) {
    tree_.step(text.size());
    text_ += text;
  }

  void whole(NameId id) {
    left(id);
    right(id);
  }

  void list(const std::vector<NameId>& ids, std::size_t first = 0) {
    const std::vector<NameId> flat =
        tree_.flat({ids.begin() + static_cast<std::ptrdiff_t>(std::min(first, ids.size())), ids.end()});
    for (std::size_t i = 0; i < flat.size(); ++i) {
      if (i > 0) put(", ");
      whole(flat[i]);
    }
  }

  [[nodiscard]] bool has_right_part(NameId id) const {
    while (tree_[id].kind == NameKind::qualified) id = tree_[id].children[0];
    return tree_[id].kind == NameKind::function || tree_[id].kind == NameKind::array;
  }

  // What is const twice is const.
  [[nodiscard]] bool repeats(const NameNode& qualified) const {
    const NameNode& inner = tree_[qualified.children[0]];
    return inner.kind == NameKind::qualified && inner.text == qualified.text;
  }

  // A reference to a reference is one reference.
  [[nodiscard]] bool is_collapsed(const NameNode& pointer) const {
    const NameNode& inner = tree_[pointer.children[0]];
    return pointer.text != "*" && inner.kind == NameKind::pointer && inner.text != "*";
  }

  void left(NameId id) {
    tree_.step();
    const NameNode& node = tree_[id];
    switch (node.kind) {
    case NameKind::text:
      return put(node.text);
    case NameKind::scoped:
      whole(node.children[0]);
      put("::");
      return whole(node.children[1]);
    case NameKind::instance:
      whole(node.children[0]);
      put("<");
      list(node.children, 1);
      return put(">");
    case NameKind::list:
    case NameKind::pack:
      return list(node.children);
    case NameKind::pointer:
      left(node.children[0]);
      if (is_collapsed(node)) return;
      if (has_right_part(node.children[0])) put(" (");
      return put(node.text);
    case NameKind::qualified:
      if (repeats(node)) return left(node.children[0]);
      if (const_at_ == ConstAt::left && tree_[node.children[0]].kind <= NameKind::instance) {
        put(std::string_view(node.text).substr(1));
        put(" ");
        return left(node.children[0]);
      }
      left(node.children[0]);
      return put(node.text);
    case NameKind::function:
    case NameKind::array:
      return left(node.children[0]);
    case NameKind::vector:
      whole(node.children[0]);
      put(" __vector(");
      put(node.text);
      return put(")");
    case NameKind::literal:
      put("(");
      whole(node.children[0]);
      put(")");
      return put(node.text);
    case NameKind::call:
      whole(node.children[0]);
      put("(");
      list(node.children, 1);
      return put(")");
    }
  }

  void right(NameId id) {
    tree_.step();
    const NameNode& node = tree_[id];
    switch (node.kind) {
    case NameKind::pointer:
      if (has_right_part(node.children[0]) && !is_collapsed(node)) put(")");
      return right(node.children[0]);
    case NameKind::qualified:
      return right(node.children[0]);
    case NameKind::function:
      put("(");
      list(node.children, 1);
      put(")");
      return right(node.children[0]);
    case NameKind::array:
      put(" [");
      put(node.text);
      put("]");
      return right(node.children[0]);
    default:
      return;
    }
  }

  const NameTree& tree_;
  ConstAt const_at_;
  std::string text_;
};

}  // namespace

NameId NameTree::add(NameNode node) {
  for (const NameId child : node.children) node.depth = std::max(node.depth, nodes_[child].depth + 1);
  step(1 + node.children.size());
  if (node.depth > max_depth) throw NotUnderstood();
  nodes_.push_back(std::move(node));
  return nodes_.size() - 1;
}

void NameTree::step(std::size_t count) const {
  if (count > steps_left_) throw NotUnderstood();
  steps_left_ -= count;
}

const NameNode* NameTree::first_pack(NameId id) const {
  step();
  const NameNode& node = nodes_[id];
  if (node.kind == NameKind::pack) return &node;
  for (const NameId child : node.children) {
    if (const NameNode* pack = first_pack(child)) return pack;
  }
  return nullptr;
}

NameId NameTree::with_element(NameId id, std::size_t element) {
  if (first_pack(id) == nullptr) return id;
  NameNode copy = nodes_[id];
  if (copy.kind == NameKind::pack) {
    if (element >= copy.children.size()) throw NotUnderstood();
    return copy.children[element];
  }
  for (NameId& child : copy.children) child = with_element(child, element);
  return add(std::move(copy));
}

NameId NameTree::expanded(NameId id) {
  const NameNode* pack = first_pack(id);
  if (pack == nullptr) throw NotUnderstood();
  const std::size_t count = pack->children.size();  // before nodes are added: the pointer does not outlive that
  std::vector<NameId> elements;
  for (std::size_t i = 0; i < count; ++i) elements.push_back(with_element(id, i));
  return add({.kind = NameKind::list, .children = std::move(elements)});
}

void NameTree::flatten(const std::vector<NameId>& ids, std::vector<NameId>& flat) const {
  for (const NameId id : ids) {
    step();
    const NameNode& node = nodes_[id];
    if (node.kind == NameKind::list || node.kind == NameKind::pack) {
      flatten(node.children, flat);
    } else {
      flat.push_back(id);
    }
  }
}

std::vector<NameId> NameTree::flat(const std::vector<NameId>& ids) const {
  std::vector<NameId> flat;
  flatten(ids, flat);
  return flat;
}

std::string text_of(const NameTree& tree, NameId id, ConstAt const_at) { return TextWriter(tree, const_at).text(id); }

}  // namespace fastdispatch::detail
