// A dispatch's accesses to its memory.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "fastdispatch/memory_view.hpp"

namespace fastdispatch {

enum class AccessMode : std::uint8_t { none = 0, read = 1, write = 2, read_write = 3 };

/// A part of a buffer, in elements.
struct ElementRange {
  std::size_t first = 0;
  std::size_t count = 0;
};

namespace detail {

/// An access as an application states it. If the view has no agent, its kind of memory is unknown, and HSA is asked.
struct StatedAccess {
  static constexpr std::size_t unknown_size = std::numeric_limits<std::size_t>::max();

  MemoryView memory;
  AccessMode mode = AccessMode::none;
  bool anywhere = false;  ///< the memory is not known at all
};

[[nodiscard]] inline MemoryView memory_behind(const void* pointer, std::size_t bytes = StatedAccess::unknown_size) {
  MemoryView memory;
  memory.address = memory.device_address = static_cast<std::byte*>(const_cast<void*>(pointer));
  memory.size = bytes;
  return memory;
}

}  // namespace detail

/// A kernel argument, the address of elements of type T, with the kernel's kind of access; made by read, write and
/// read_write. A view: it owns nothing. T is void for memory of no type, which then passes for a pointer of any.
template <class T, AccessMode mode>
class Accessed {
public:
  Accessed(T* data, const MemoryView& touched) : data_(data), touched_(touched) {}

  [[nodiscard]] T* data() const { return data_; }
  template <class U>
    requires std::is_void_v<T>
  operator U*() const {
    return static_cast<U*>(data_);
  }

  [[nodiscard]] detail::StatedAccess stated() const { return {.memory = touched_, .mode = mode}; }

private:
  T* data_;
  MemoryView touched_;
};

namespace detail {

template <class T>
concept Memory = std::convertible_to<const T&, MemoryView>;

template <AccessMode mode, Memory Buffer>
[[nodiscard]] auto accessed(Buffer& buffer) {
  const MemoryView view = buffer;
  if constexpr (requires { buffer.data(); }) {
    using Element = std::remove_pointer_t<decltype(buffer.data())>;
    static_assert(mode == AccessMode::read || !std::is_const_v<Element>, "a const buffer is not written");
    return Accessed<Element, mode>(buffer.data(), view);
  } else {
    return Accessed<void, mode>(view.device_address, view);
  }
}

template <AccessMode mode, Memory Buffer>
[[nodiscard]] auto accessed(Buffer& buffer, ElementRange range) {
  auto whole = accessed<mode>(buffer);
  using Pointer = decltype(whole.data());
  constexpr std::size_t element_size = [] {
    if constexpr (std::is_void_v<std::remove_pointer_t<Pointer>>) {
      return std::size_t{1};
    } else {
      return sizeof(std::remove_pointer_t<Pointer>);
    }
  }();
  return decltype(whole)(whole.data(), MemoryView(buffer).subview(range.first, range.count, element_size));
}

template <AccessMode mode, class T>
[[nodiscard]] Accessed<T, mode> accessed(T* pointer) {
  static_assert(mode == AccessMode::read || !std::is_const_v<T>, "memory behind a pointer to const is not written");
  return {pointer, memory_behind(pointer)};
}

template <AccessMode mode, class T>
[[nodiscard]] Accessed<T, mode> accessed(T* pointer, ElementRange range) {
  static_assert(mode == AccessMode::read || !std::is_const_v<T>, "memory behind a pointer to const is not written");
  return {pointer, memory_behind(pointer + range.first, range.count * sizeof(T))};
}

}  // namespace detail

namespace detail {

/// The arguments of read and write: an owner with a name, or a view. Views are copied like values.
template <class M>
concept LivesOn = std::is_lvalue_reference_v<M> || std::is_trivially_copyable_v<std::remove_cvref_t<M>>;

}  // namespace detail

/// The kernel reads, writes, or does both with a DeviceBuffer, DeviceSpan, PinnedBuffer, Pin or MemoryView, or with the
/// allocation that a pointer points into. It gets the address of the whole. An ElementRange, in elements (for Pin and
/// MemoryView in bytes), says that it touches only this part: `fd::write(buffer, {.first = 0, .count = 64})`. With
/// `write`, bytes that are not written keep their contents. An owner must have a name: a temporary owner's memory would
/// be gone before the kernel runs.
/// Throws Error when the range leaves the buffer. A range behind a pointer is not checked: the size is not known.
template <detail::LivesOn M>
[[nodiscard]] auto read(M&& memory) {
  return detail::accessed<AccessMode::read>(memory);
}
template <detail::LivesOn M>
[[nodiscard]] auto read(M&& memory, ElementRange range) {
  return detail::accessed<AccessMode::read>(memory, range);
}
template <detail::LivesOn M>
[[nodiscard]] auto write(M&& memory) {
  return detail::accessed<AccessMode::write>(memory);
}
template <detail::LivesOn M>
[[nodiscard]] auto write(M&& memory, ElementRange range) {
  return detail::accessed<AccessMode::write>(memory, range);
}
template <detail::LivesOn M>
[[nodiscard]] auto read_write(M&& memory) {
  return detail::accessed<AccessMode::read_write>(memory);
}
template <detail::LivesOn M>
[[nodiscard]] auto read_write(M&& memory, ElementRange range) {
  return detail::accessed<AccessMode::read_write>(memory, range);
}

// ---- details

namespace detail {

template <class T>
inline constexpr bool is_accessed = false;
template <class T, AccessMode mode>
inline constexpr bool is_accessed<Accessed<T, mode>> = true;

/// The accesses that a parameter type allows a kernel.
template <class Parameter>
inline constexpr AccessMode mode_of_parameter =
    std::is_const_v<std::remove_pointer_t<Parameter>> ? AccessMode::read : AccessMode::read_write;

/// The access that `argument` states when it is passed for a parameter of type Parameter.
template <class Parameter, class Argument>
[[nodiscard]] StatedAccess stated_access([[maybe_unused]] const Argument& argument) {
  if constexpr (!std::is_pointer_v<Parameter>) {
    return {};
  } else if constexpr (is_accessed<Argument>) {
    return argument.stated();
  } else if constexpr (Memory<Argument>) {
    return {.memory = argument, .mode = mode_of_parameter<Parameter>};
  } else if constexpr (std::is_convertible_v<const Argument&, Parameter>) {
    const Parameter pointer = argument;
    return {.memory = memory_behind(pointer), .mode = mode_of_parameter<Parameter>};
  } else if constexpr (requires { argument.data(); }) {
    return {.memory = memory_behind(argument.data()), .mode = mode_of_parameter<Parameter>};
  } else {
    return {.memory = {}, .mode = mode_of_parameter<Parameter>, .anywhere = true};
  }
}

}  // namespace detail

}  // namespace fastdispatch
