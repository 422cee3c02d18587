#include "dispatch/code_object/types_fit.hpp"

#include <algorithm>
#include <array>

namespace fastdispatch::detail {
namespace {

// The scalars of OpenCL C (its specification, chapter 6.3.1), whose sizes differ from C's in the case of long.
struct OpenClType {
  std::string_view name;
  TypeClass type_class;
  std::uint32_t bytes;
};
constexpr std::array<OpenClType, 12> opencl_types{{
    {"char", TypeClass::integer, 1},
    {"uchar", TypeClass::integer, 1},
    {"short", TypeClass::integer, 2},
    {"ushort", TypeClass::integer, 2},
    {"int", TypeClass::integer, 4},
    {"uint", TypeClass::integer, 4},
    {"long", TypeClass::integer, 8},
    {"ulong", TypeClass::integer, 8},
    {"half", TypeClass::floating, 2},
    {"float", TypeClass::floating, 4},
    {"double", TypeClass::floating, 8},
    {"void", TypeClass::nothing, 0},
}};

bool is_known(TypeClass type_class) { return type_class == TypeClass::integer || type_class == TypeClass::floating; }

}  // namespace

bool types_fit(const SourceType& kernels, const SourceType& signatures) {
  const std::size_t levels = std::min(kernels.pointers, signatures.pointers);
  if (levels > 0 && kernels.pointers == levels && kernels.is_raw) return true;
  if (kernels.pointers != signatures.pointers) {
    // One has pointers where the other has what its type_class says.
    const SourceType& other = kernels.pointers == levels ? kernels : signatures;
    return levels == 0 || !is_known(other.type_class) ||
           (other.type_class == TypeClass::integer && other.bytes == sizeof(void*));
  }
  if (!is_known(kernels.type_class) || !is_known(signatures.type_class)) return true;
  if (kernels.bytes != signatures.bytes) return false;
  return kernels.type_class == signatures.type_class || kernels.bytes == 2;
}

std::optional<SourceType> opencl_type(std::string_view type_name) {
  SourceType type{.text = std::string(type_name), .is_from_name = false};
  while (type_name.ends_with('*')) {
    type_name.remove_suffix(1);
    ++type.pointers;
  }
  const auto found = std::ranges::find(opencl_types, type_name, &OpenClType::name);
  if (found == opencl_types.end()) return {};
  type.type_class = found->type_class;
  type.bytes = found->bytes;
  type.is_raw = type.bytes == 1;
  return type;
}

}  // namespace fastdispatch::detail
