// Typed kernels.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>

#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/grid.hpp"
#include "fastdispatch/kernel_argument.hpp"
#include "fastdispatch/queue.hpp"

namespace fastdispatch {

/// A kernel parameter in group memory whose size is chosen at the dispatch (OpenCL's `local` pointers): the signature
/// says LocalMemory, the dispatch passes LocalMemory{bytes}.
struct LocalMemory {
  std::uint32_t bytes = 0;
};

template <class Signature>
class Kernel;

/// One kernel of a Module, with all that a dispatch needs worked out. The signature was checked against the code object
/// when Module::kernel made it. Copies share the loaded code object with the Module: it stays loaded until all of them
/// are gone. Dispatches do not keep it: one of them, or the Module, must live until the last dispatch completed.
template <class... Parameters>
class Kernel<void(Parameters...)> {
  static_assert((std::is_trivially_copyable_v<Parameters> && ...), "kernel parameters are passed as bytes");

public:
  explicit Kernel(std::shared_ptr<const detail::KernelInfo> info) noexcept : info_(std::move(info)) {}
  /// `info` outlives this.
  explicit Kernel(const detail::KernelInfo& info) : Kernel({std::shared_ptr<const void>(), &info}) {}

  /// As messages show it: the name of a C++ kernel is demangled, with its parameters.
  [[nodiscard]] std::string_view name() const { return info_->name; }
  /// Work-items: the size that the kernel was compiled for, or the agent's limit where that is smaller.
  [[nodiscard]] std::uint32_t max_group_size() const { return info_->max_group_size; }
  /// Bytes a group, without the bytes that a dispatch adds.
  [[nodiscard]] std::uint32_t group_memory_size() const { return info_->group_segment_size; }
  /// Bytes a work-item.
  [[nodiscard]] std::uint32_t private_memory_size() const { return info_->private_segment_size; }
  [[nodiscard]] std::size_t kernarg_size() const { return info_->kernarg_size; }
  /// How many work-groups of `grid` the kernel's GPU holds at a time: whole groups, with the grid's dynamic LDS and
  /// `local_memory` bytes for LocalMemory (see local_memory). Only the grid's groups matter, not its size.
  /// Throws Error when the kernel can't run in such groups, and when the library does not know the GPU's compute units.
  [[nodiscard]] Occupancy occupancy(const Grid& grid, std::uint64_t local_memory = 0) const {
    return detail::occupancy_of(*info_, grid, local_memory);
  }
  [[nodiscard]] const detail::KernelInfo& info() const { return *info_; }

  /// Group memory that the LocalMemory among the arguments adds, in bytes.
  template <class... Arguments>
  [[nodiscard]] static std::uint64_t local_memory(const Arguments&... arguments) noexcept;

  /// Writes the explicit arguments to where the code object wants them, converted to the parameters' types. `kernarg`
  /// points to kernarg_size() bytes. Allocates nothing.
  template <class... Arguments>
    requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
  void write_arguments(std::byte* kernarg, Arguments&&... arguments) const noexcept;

private:
  std::shared_ptr<const detail::KernelInfo> info_;
};

// ---- details

namespace detail {

template <class T>
[[nodiscard]] Parameter parameter() {
  static_assert(!std::is_reference_v<T>, "kernel parameters are values and pointers");
  constexpr ParameterKind kind = std::is_same_v<T, LocalMemory> ? ParameterKind::local_memory
                                 : std::is_pointer_v<T>         ? ParameterKind::pointer
                                                                : ParameterKind::value;
  return {kind, sizeof(T), &typeid(T)};  // NOLINT(bugprone-sizeof-expression): pointers are parameters, too
}

template <class Argument>
constexpr std::uint64_t local_memory_of([[maybe_unused]] const Argument& argument) {
  if constexpr (std::is_same_v<Argument, LocalMemory>) {
    return aligned_local_memory(argument.bytes);
  } else {
    return 0;
  }
}

/// `local` is the offset of the next LocalMemory in the group segment.
template <class T, class Argument>
void write_argument(std::byte* kernarg, const ArgumentSlot& slot, std::uint32_t& local, Argument&& argument) noexcept {
  if constexpr (std::is_same_v<T, LocalMemory>) {
    std::memcpy(kernarg + slot.offset, &local, sizeof(local));
    local += static_cast<std::uint32_t>(aligned_local_memory(argument.bytes));
  } else if constexpr (std::convertible_to<Argument, T>) {
    const T value = static_cast<T>(std::forward<Argument>(argument));
    // The size is slot.size, too: checked at the look-up.
    std::memcpy(kernarg + slot.offset, &value, sizeof(T));  // NOLINT(bugprone-sizeof-expression): pointers, too
  } else {
    const T value = argument.data();
    // The size is slot.size, too: checked at the look-up.
    std::memcpy(kernarg + slot.offset, &value, sizeof(T));  // NOLINT(bugprone-sizeof-expression): pointers, too
  }
}

}  // namespace detail

template <class... Parameters>
template <class... Arguments>
std::uint64_t Kernel<void(Parameters...)>::local_memory(const Arguments&... arguments) noexcept {
  return (std::uint64_t{0} + ... + detail::local_memory_of(arguments));
}

template <class... Parameters>
template <class... Arguments>
  requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
void Kernel<void(Parameters...)>::write_arguments([[maybe_unused]] std::byte* kernarg,
                                                  Arguments&&... arguments) const noexcept {
  [[maybe_unused]] const detail::ArgumentSlot* slot = info_->arguments.data();
  [[maybe_unused]] auto local = static_cast<std::uint32_t>(detail::aligned_local_memory(info_->group_segment_size));
  (detail::write_argument<Parameters>(kernarg, *slot++, local, std::forward<Arguments>(arguments)), ...);
}

template <class... Parameters, class... Arguments>
  requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
Submission Queue::dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, DispatchOptions options,
                           Arguments&&... arguments) {
  const detail::KernelInfo& info = kernel.info();
  const std::uint64_t local_memory = kernel.local_memory(arguments...);
  const auto write_arguments = [&](std::byte* kernarg) {
    detail::write_implicit_arguments(info, grid, kernarg);
    if (info.needs_queue) detail::write_queue_arguments(info, handle(), kernarg);
    kernel.write_arguments(kernarg, std::forward<Arguments>(arguments)...);
  };
  if (options.kernargs == nullptr) {
    KernargSlot slot = begin_dispatch(info, grid, local_memory);
    write_arguments(slot.bytes().data());
    return submit(info, grid, local_memory, options, slot);
  }
  detail::check_dispatch(info, grid, local_memory, agent());
  const std::span<std::byte> block = options.kernargs->bytes();
  detail::check_kernargs(info, block);
  write_arguments(block.data());
  Packet packet = detail::dispatch_packet(info, grid, local_memory, block.data(), options.ordering);
  if (options.completion != nullptr) packet.set_completion_signal(options.completion->handle());
  return submit(packet, *options.kernargs);
}

template <class... Parameters, class... Arguments>
  requires(sizeof...(Arguments) == sizeof...(Parameters) && (KernelArgument<Arguments, Parameters> && ...))
Submission Queue::dispatch(const Kernel<void(Parameters...)>& kernel, const Grid& grid, Arguments&&... arguments) {
  return dispatch(kernel, grid, DispatchOptions{}, std::forward<Arguments>(arguments)...);
}

}  // namespace fastdispatch
