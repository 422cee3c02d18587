// What a vector instruction computes in one lane, given as a C++ lambda whose parameter and result types are the
// operands' types of the ISA manual: [](u32 a, u32 b) { return a + b; }.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "values.hpp"

namespace softgpu::isa {

/// As a parameter: the lane's bit of VCC or of an SGPR pair (a carry-in, a selection).
struct Condition {
  bool set;
  // NOLINTNEXTLINE(google-explicit-constructor): reads as the bit it is.
  operator bool() const { return set; }
};

/// As a parameter: the destination's old value.
template <class T>
struct Old {
  T value;
};

/// As a result: a value, and the lane's bit of VCC or of an SGPR pair (a carry-out).
template <class T>
struct WithMask {
  T value;
  bool mask;
};
template <class T>
WithMask(T, bool) -> WithMask<T>;

/// As a result: the 16-bit value replaces the low half of the destination and preserves the high half, while any other
/// 16-bit result zeroes it.
template <class T>
struct LowHalf {
  T value;
};
template <class T>
LowHalf(T) -> LowHalf<T>;

/// One lane's inputs and outputs.
struct Lane {
  std::array<u64, 3> source = {};
  u64 old = 0;
  bool condition = false;
  bool mask = false;
};

struct Operation {
  Type result = Type::uint32;
  std::vector<Type> sources;
  bool writes_value = true;  ///< false for comparisons, whose only result is the mask
  bool writes_mask = false;
  bool reads_condition = false;
  bool reads_old = false;
  bool preserves_high = false;
  std::function<u64(Lane&)> evaluate;  ///< returns the result's bits and sets `mask`
};

namespace detail {

template <class T>
struct Parameter {
  using Value = T;
  static constexpr bool is_source = true;
};
template <>
struct Parameter<Condition> {
  static constexpr bool is_source = false;
};
template <class T>
struct Parameter<Old<T>> {
  using Value = T;
  static constexpr bool is_source = false;
};

template <class T>
T argument(const Lane& lane, std::size_t source, std::type_identity<T> /*type*/) {
  return from_bits<T>(lane.source.at(source));
}
template <class T>
Old<T> argument(const Lane& lane, std::size_t /*source*/, std::type_identity<Old<T>> /*type*/) {
  return {from_bits<T>(lane.old)};
}
inline Condition argument(const Lane& lane, std::size_t /*source*/, std::type_identity<Condition> /*type*/) {
  return {lane.condition};
}

template <class T>
struct Result {
  static constexpr Type type = type_of<T>();
  static u64 store(Lane& /*lane*/, T result) { return to_bits(result); }
};
template <class T>
struct Result<WithMask<T>> {
  static constexpr Type type = type_of<T>();
  static u64 store(Lane& lane, WithMask<T> result) {
    lane.mask = result.mask;
    return to_bits(result.value);
  }
};
template <class T>
struct Result<LowHalf<T>> {
  static constexpr Type type = type_of<T>();
  static u64 store(Lane& /*lane*/, LowHalf<T> result) { return to_bits(result.value); }
};
template <>
struct Result<bool> {
  static constexpr Type type = Type::uint32;
  static u64 store(Lane& lane, bool result) {
    lane.mask = result;
    return 0;
  }
};

template <class T>
inline constexpr bool is_with_mask = false;
template <class T>
inline constexpr bool is_with_mask<WithMask<T>> = true;
template <class T>
inline constexpr bool is_low_half = false;
template <class T>
inline constexpr bool is_low_half<LowHalf<T>> = true;
template <class T>
inline constexpr bool is_old = false;
template <class T>
inline constexpr bool is_old<Old<T>> = true;

/// For each parameter the number of its source operand.
template <class... A>
constexpr auto source_numbers() {
  std::array<std::size_t, sizeof...(A) + 1> numbers = {};
  const std::array<bool, sizeof...(A) + 1> is_source = {Parameter<A>::is_source...};
  for (std::size_t i = 1; i < sizeof...(A); ++i) numbers[i] = numbers[i - 1] + (is_source[i - 1] ? 1 : 0);
  return numbers;
}

template <class R, class... A>
Operation operation(std::function<R(A...)> function) {
  Operation made;
  made.result = Result<R>::type;
  made.writes_value = !std::is_same_v<R, bool>;
  made.writes_mask = std::is_same_v<R, bool> || is_with_mask<R>;
  made.reads_condition = (std::is_same_v<A, Condition> || ...);
  made.reads_old = (is_old<A> || ...);
  made.preserves_high = is_low_half<R>;
  const auto add_source = [&]<class T>(std::type_identity<T> /*type*/) {
    if constexpr (Parameter<T>::is_source) made.sources.push_back(type_of<T>());
  };
  (add_source(std::type_identity<A>()), ...);
  made.evaluate = [function = std::move(function)](Lane& lane) {
    return [&]<std::size_t... I>(std::index_sequence<I...> /*parameters*/) {
      constexpr auto source = source_numbers<A...>();
      return Result<R>::store(lane, function(argument(lane, source[I], std::type_identity<A>())...));
    }
    (std::index_sequence_for<A...>());
  };
  return made;
}

}  // namespace detail

template <class F>
Operation operation(F function) {
  // Of a pointer: compilers make a dozen functions for each type that a std::function holds, and there are hundreds.
  if constexpr (requires { +function; })
    return detail::operation(std::function(+function));
  else
    return detail::operation(std::function(std::move(function)));
}

}  // namespace softgpu::isa
