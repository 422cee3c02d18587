// C++ names and types as their authors wrote them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/code_object/name_tree.hpp"

namespace fastdispatch::detail {

// A type of a parameter, with what a comparison of two types needs. References are taken for pointers.
struct SourceType {
  std::string text{};                         // "unsigned int const*"
  std::string text_const_left{};              // "const unsigned int*"
  std::size_t pointers = 0;                   // 2 for float**
  bool points_to_const = false;               // through the first pointer
  TypeClass type_class = TypeClass::unknown;  // behind all pointers
  std::uint32_t bytes = 0;                    // likewise; 0: not known
  bool is_raw = false;                        // likewise: char or unsigned char, by which C++ reads any object
  bool is_from_name = true;                   // a mangled one, which tells where const is
};

// A kernel's name.
struct SourceName {
  std::string name{};           // "space::sum<float>"
  std::string template_name{};  // "space::sum"
  std::string clone{};          // ".static.1f3a", by which compilers tell kernels of one name apart; mostly empty
  std::vector<SourceType> parameters{};

  // "space::sum<float>(float const*)"
  [[nodiscard]] std::string text(ConstAt const_at = ConstAt::right) const;
};

// Nothing for a name that is not mangled, that is damaged, or that has what the demangler does not know:
// name_parser.hpp tells what. Names may come from files that nobody checked: time and memory grow with the name's
// length.
[[nodiscard]] std::optional<SourceName> source_name(std::string_view mangled);

// The same for a type, as in type_info::name().
[[nodiscard]] std::optional<SourceType> source_type(std::string_view mangled);

// The name for messages: "_Z5scalePf" becomes "scale(float*)"; what source_name has nothing for stays as it is.
[[nodiscard]] std::string demangle(std::string_view name);

}  // namespace fastdispatch::detail
