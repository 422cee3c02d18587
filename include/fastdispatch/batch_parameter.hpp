// Parameters of a batch, which each submission sets anew: arguments of its kernels, and grids.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/kernel_argument.hpp"
#include "fastdispatch/queue.hpp"

namespace fastdispatch {

class Batch;

namespace detail {

// A parameter's number, and the recording that declared it.
struct ParameterId {
  std::uint64_t recording = 0;  // no recording has the number 0
  std::uint32_t index = 0;

  friend bool operator==(const ParameterId&, const ParameterId&) = default;
};

// A submission's value for a parameter: an object of the parameter's type.
struct ParameterValue {
  ParameterId id;
  const void* object;
};

// An argument of a dispatch that is a parameter, and its place in the kernarg segment.
struct ParameterUse {
  ParameterId id;
  ArgumentSlot slot{};
};

}  // namespace detail

/// Names a value that is left open when a batch is recorded and set by each submission with `set`; made by
/// Batch::parameter, passed to Batch::dispatch in the place of arguments or, where T is Grid, of the grid. Trivially
/// copyable; belongs to its Batch until that is cleared.
template <class T>
class BatchParameter {
  static_assert(std::is_trivially_copyable_v<T>, "kernel arguments are passed as bytes");
  static_assert(!std::is_same_v<T, LocalMemory>, "group memory is set by a parameter of type Grid: Grid::dynamic_lds");

public:
  using value_type = T;
  [[nodiscard]] detail::ParameterId id() const noexcept { return id_; }

private:
  friend class Batch;
  explicit BatchParameter(detail::ParameterId id) noexcept : id_(id) {}
  detail::ParameterId id_;
};

/// A parameter with its value; made by `set`.
template <class T>
struct ParameterSetting {
  detail::ParameterId id;
  T value;
};

/// Sets `parameter` for a submission, to anything that the kernel would take as an argument of type T, such as a buffer
/// of the same elements for a pointer (see KernelArgument): `queue.submit(batch, fd::set(count, 5), fd::set(output,
/// buffer))`.
template <class T, class Value>
  requires KernelArgument<Value, T>
[[nodiscard]] ParameterSetting<T> set(const BatchParameter<T>& parameter, Value&& value) {
  if constexpr (std::convertible_to<Value, T>) {
    return {parameter.id(), static_cast<T>(std::forward<Value>(value))};
  } else {
    return {parameter.id(), value.data()};
  }
}

/// The grid of a recorded dispatch: a known grid, or a parameter.
class BatchGrid {
public:
  BatchGrid(const Grid& grid) noexcept : grid_(grid) {}
  BatchGrid(const BatchParameter<Grid>& parameter) noexcept : parameter_(parameter.id()) {}

  [[nodiscard]] bool is_parameter() const noexcept { return parameter_.recording != 0; }
  [[nodiscard]] detail::ParameterId parameter() const noexcept { return parameter_; }
  /// The known grid; for a parameter, a grid of one work-item.
  [[nodiscard]] const Grid& grid() const noexcept { return grid_; }

private:
  Grid grid_;
  detail::ParameterId parameter_;
};

namespace detail {

template <class Argument>
inline constexpr bool is_parameter = false;
template <class T>
inline constexpr bool is_parameter<BatchParameter<T>> = true;

// A parameter stands for an argument of the same type. A pointer also stands for one to const, and for one to void; not
// for one to a base class: the conversion could change the address, but a submission copies the bytes as they are.
template <class Argument, class Parameter>
inline constexpr bool is_parameter_for = false;
template <class T, class Parameter>
inline constexpr bool is_parameter_for<BatchParameter<T>, Parameter> =
    std::is_same_v<T, Parameter> ||
    (std::is_pointer_v<T> && std::is_pointer_v<Parameter> && std::is_convertible_v<T, Parameter> &&
     (std::is_void_v<std::remove_pointer_t<Parameter>> ||
      std::is_same_v<std::remove_cv_t<std::remove_pointer_t<T>>, std::remove_cv_t<std::remove_pointer_t<Parameter>>>));

}  // namespace detail

/// What may be passed for a kernel's parameter when a batch is recorded.
template <class Argument, class Parameter>
concept BatchArgument =
    KernelArgument<Argument, Parameter> || detail::is_parameter_for<std::remove_cvref_t<Argument>, Parameter>;

// ---- details

template <class... T>
  requires(sizeof...(T) > 0)
Submission Queue::submit(const Batch& batch, const ParameterSetting<T>&... settings) {
  std::array<detail::ParameterValue, sizeof...(T)> values{detail::ParameterValue{settings.id, &settings.value}...};
  return submit(batch, std::span<detail::ParameterValue>(values));
}

template <class... T>
  requires(sizeof...(T) > 0)
TimedSubmission Queue::submit_timed(const Batch& batch, const ParameterSetting<T>&... settings) {
  std::array<detail::ParameterValue, sizeof...(T)> values{detail::ParameterValue{settings.id, &settings.value}...};
  return submit_timed(batch, std::span<detail::ParameterValue>(values));
}

}  // namespace fastdispatch
