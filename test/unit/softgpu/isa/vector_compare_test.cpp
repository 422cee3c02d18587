// Comparisons: every condition for every type, into VCC or an SGPR pair, and v_cmpx, which also writes EXEC.
#include <array>
#include <cmath>
#include <string>

#include "vector_suite.hpp"

namespace softgpu::isa::vector_compare {
namespace {

template <class T>
bool unordered(T a, T b) {
  return std::isnan(static_cast<double>(a)) || std::isnan(static_cast<double>(b));
}

/// The conditions of integer comparisons, in the manual's order.
template <class T>
std::vector<VectorInstruction> integer_comparisons(const std::string& prefix, const std::string& type) {
  return {
      vopc(prefix + "f_" + type, [](T, T) { return false; }),
      vopc(prefix + "lt_" + type, [](T a, T b) { return a < b; }),
      vopc(prefix + "eq_" + type, [](T a, T b) { return a == b; }),
      vopc(prefix + "le_" + type, [](T a, T b) { return a <= b; }),
      vopc(prefix + "gt_" + type, [](T a, T b) { return a > b; }),
      vopc(prefix + "ne_" + type, [](T a, T b) { return a != b; }),
      vopc(prefix + "ge_" + type, [](T a, T b) { return a >= b; }),
      vopc(prefix + "t_" + type, [](T, T) { return true; }),
  };
}

/// Those of floating-point comparisons: an n before a relation negates it, so that it holds for unordered operands.
template <class T>
std::vector<VectorInstruction> float_comparisons(const std::string& prefix, const std::string& type) {
  return {
      vopc(prefix + "f_" + type, [](T, T) { return false; }),
      vopc(prefix + "lt_" + type, [](T a, T b) { return a < b; }),
      vopc(prefix + "eq_" + type, [](T a, T b) { return a == b; }),
      vopc(prefix + "le_" + type, [](T a, T b) { return a <= b; }),
      vopc(prefix + "gt_" + type, [](T a, T b) { return a > b; }),
      vopc(prefix + "lg_" + type, [](T a, T b) { return a < b || a > b; }),
      vopc(prefix + "ge_" + type, [](T a, T b) { return a >= b; }),
      vopc(prefix + "o_" + type, [](T a, T b) { return !unordered(a, b); }),
      vopc(prefix + "u_" + type, [](T a, T b) { return unordered(a, b); }),
      vopc(prefix + "nge_" + type, [](T a, T b) { return !(a >= b); }),
      vopc(prefix + "nlg_" + type, [](T a, T b) { return !(a < b || a > b); }),
      vopc(prefix + "ngt_" + type, [](T a, T b) { return !(a > b); }),
      vopc(prefix + "nle_" + type, [](T a, T b) { return !(a <= b); }),
      vopc(prefix + "neq_" + type, [](T a, T b) { return !(a == b); }),
      vopc(prefix + "nlt_" + type, [](T a, T b) { return !(a < b); }),
      vopc(prefix + "tru_" + type, [](T, T) { return true; }),
  };
}

/// The mask of v_cmp_class: which of ten classes a value is in.
template <class T>
u32 class_of(T operand) {
  const auto value = static_cast<double>(operand);
  if (is_signalling(operand)) return 1;
  if (std::isnan(value)) return 2;
  const bool negative = std::signbit(value);
  const double least_normal = std::is_same_v<T, Half> ? 0x1p-14 : std::is_same_v<T, float> ? 0x1p-126 : 0x1p-1022;
  if (std::isinf(value)) return negative ? 4 : 512;
  if (value == 0) return negative ? 32 : 64;
  if (std::fabs(value) < least_normal) return negative ? 16 : 128;
  return negative ? 8 : 256;
}
template <class T, class Mask>
VectorInstruction class_test(const std::string& prefix, const std::string& type) {
  return vopc(prefix + "class_" + type, [](T a, Mask classes) { return (class_of(a) & classes) != 0; });
}

/// The comparisons of one type, all that begin with `prefix`.
std::vector<VectorInstruction> comparisons(const std::string& prefix, const std::string& type) {
  if (type == "i16") return integer_comparisons<i16>(prefix, type);
  if (type == "u16") return integer_comparisons<u16>(prefix, type);
  if (type == "i32") return integer_comparisons<i32>(prefix, type);
  if (type == "u32") return integer_comparisons<u32>(prefix, type);
  if (type == "i64") return integer_comparisons<i64>(prefix, type);
  if (type == "u64") return integer_comparisons<u64>(prefix, type);
  std::vector<VectorInstruction> made;
  if (type == "f16") made = float_comparisons<Half>(prefix, type), made.push_back(class_test<Half, u16>(prefix, type));
  if (type == "f32")
    made = float_comparisons<float>(prefix, type), made.push_back(class_test<float, u32>(prefix, type));
  if (type == "f64")
    made = float_comparisons<double>(prefix, type), made.push_back(class_test<double, u32>(prefix, type));
  return made;
}

std::vector<VectorInstruction> table(const std::string& prefix) {
  std::vector<VectorInstruction> made;
  for (const char* type : {"f16", "f32", "f64", "i16", "u16", "i32", "u32", "i64", "u64"})
    for (VectorInstruction& row : comparisons(prefix, type)) made.push_back(std::move(row));
  return made;
}

FASTDISPATCH_VECTOR_SUITE(VectorCompare, table("v_cmp_"));
FASTDISPATCH_VECTOR_SUITE(VectorCompareExec, table("v_cmpx_"));

}  // namespace
}  // namespace softgpu::isa::vector_compare
