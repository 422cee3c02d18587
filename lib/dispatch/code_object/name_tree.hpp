// What a mangled C++ name consists of, as a graph: a type that a name mentions twice is one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace fastdispatch::detail {

// Thrown inside of the demangler: the name is damaged, too large, or has what the demangler does not know.
struct NotUnderstood : std::exception {};

enum class NameKind : std::uint8_t {
  text,       // itself: an identifier, a built-in type
  scoped,     // children[0]::children[1]
  instance,   // children[0]<children[1], ...>
  list,       // template arguments that a parameter pack took
  pack,       // a parameter pack that stands in a pattern: `T*...`
  pointer,    // children[0] with "*", "&" or "&&" behind it
  qualified,  // children[0] with " const", " volatile" or the like behind it
  function,   // children[0](children[1], ...): a type
  array,      // children[0] [text]
  vector,     // children[0] __vector(text)
  literal,    // (children[0])text
  call,       // children[0](children[1], ...): a function by its name
};

// What is known of a type's bytes.
enum class TypeClass : std::uint8_t { unknown, nothing, integer, floating };

using NameId = std::size_t;

struct NameNode {
  NameKind kind = NameKind::text;
  std::string text{};
  std::vector<NameId> children{};
  TypeClass type_class = TypeClass::unknown;  // of built-in types
  std::uint32_t bytes = 0;                    // likewise
  std::uint32_t depth = 1;
};

// Owner of nodes. The names come from files that nobody checked, and a few bytes of a name can stand for a text of any
// length. So there are limits on depth and on steps, of which a name has as many as its length allows: nodes that are
// added or visited and characters that are written count. Beyond the limits the members throw NotUnderstood.
class NameTree {
public:
  explicit NameTree(std::size_t name_length) : steps_left_(1024 + 64 * name_length) {}

  [[nodiscard]] NameId add(NameNode node);
  [[nodiscard]] NameId text(std::string_view text) { return add({.text = std::string(text)}); }
  [[nodiscard]] const NameNode& operator[](NameId id) const { return nodes_[id]; }

  // The list that the pattern `id...` stands for.
  [[nodiscard]] NameId expanded(NameId id);
  // With lists and packs replaced by what is in them.
  [[nodiscard]] std::vector<NameId> flat(const std::vector<NameId>& ids) const;

  void step(std::size_t count = 1) const;

private:
  [[nodiscard]] const NameNode* first_pack(NameId id) const;
  [[nodiscard]] NameId with_element(NameId id, std::size_t element);
  void flatten(const std::vector<NameId>& ids, std::vector<NameId>& flat) const;

  std::vector<NameNode> nodes_;
  mutable std::size_t steps_left_;
};

// Where qualifiers of a type stand: `unsigned int const*` or `const unsigned int*`.
enum class ConstAt : std::uint8_t { right, left };

// The text of a node. One that is longer than a limit throws NotUnderstood.
[[nodiscard]] std::string text_of(const NameTree& tree, NameId id, ConstAt const_at = ConstAt::right);

}  // namespace fastdispatch::detail
