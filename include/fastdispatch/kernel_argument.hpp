// What may be passed for a kernel's parameter.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <type_traits>

namespace fastdispatch {

namespace detail {

template <class T>
inline constexpr bool is_number = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// A number that the parameter may have no room for: a wider number, or a floating-point number for an integer. A
/// change of the sign's meaning at the same width is none of them.
template <class Argument, class Parameter>
inline constexpr bool narrows = [] {
  using From = std::decay_t<Argument>;
  if constexpr (std::is_same_v<Parameter, bool>) {
    return std::is_scalar_v<From> && !std::is_same_v<From, bool>;
  } else if constexpr (is_number<From> && is_number<Parameter>) {
    return sizeof(From) > sizeof(Parameter) || (std::is_floating_point_v<From> && !std::is_floating_point_v<Parameter>);
  } else {
    return false;
  }
}();

}  // namespace detail

/// An argument that may be passed for a parameter: it converts to the parameter's type, and does not narrow. For a
/// pointer, it may also have a data() that converts (DeviceBuffer, DeviceSpan, PinnedBuffer).
///
/// A number narrows if it is wider than the parameter, or floating-point where the parameter is an integer: a double
/// for a float, a std::size_t for a std::uint32_t, an int for a std::uint16_t, any number but a bool for a bool. Say
/// what is meant by a cast: `static_cast<std::uint32_t>(n)`. An int for an unsigned of the same width is taken, and so
/// is an integer for a floating-point number that is not narrower.
template <class Argument, class Parameter>
concept KernelArgument = (std::convertible_to<Argument, Parameter> && !detail::narrows<Argument, Parameter>) ||
                         (std::is_pointer_v<Parameter> && requires(Argument && argument) {
                                                            { argument.data() } -> std::convertible_to<Parameter>;
                                                          });

// ---- details

namespace detail {

/// The number, from 1, of the first argument that narrows; 0: none does. Compilers show it where they refuse the call.
template <class Signature, class... Arguments>
inline constexpr std::size_t first_narrowed = 0;
template <class... Parameters, class... Arguments>
  requires(sizeof...(Arguments) == sizeof...(Parameters) && sizeof...(Arguments) > 0)
inline constexpr std::size_t first_narrowed<void(Parameters...), Arguments...> = [] {
  const std::array<bool, sizeof...(Arguments)> narrowed{narrows<Arguments, Parameters>...};
  for (std::size_t i = 0; i < narrowed.size(); ++i) {
    if (narrowed[i]) return i + 1;
  }
  return std::size_t{0};
}();

}  // namespace detail

}  // namespace fastdispatch
