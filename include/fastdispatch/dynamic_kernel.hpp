// Kernels whose signature is put together while the program runs: of a tool, an interpreter, a binding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/kernel.hpp"

namespace fastdispatch {

/// An explicit parameter of a kernel, as the code object describes it.
struct KernelParameter {
  std::string name;          ///< as in the source; empty where the code object does not tell it
  std::string type;          ///< likewise: "float const*"
  std::string kind;          ///< LLVM's word: "global_buffer" is a pointer, "by_value" a value
  std::uint32_t offset = 0;  ///< in the kernel's arguments, in bytes
  std::uint32_t size = 0;
};

/// A kernel, as the code object describes it.
struct KernelDescription {
  std::string name;                         ///< as in the source: "space::sum<float>(float const*, float*)"
  std::string mangled_name;                 ///< as in the code object
  std::vector<KernelParameter> parameters;  ///< without the implicit arguments, which the library writes
};

/// A type in a signature that is put together while the program runs; made by parameter_type.
using ParameterType = detail::Parameter;

/// The type of a parameter: `fd::parameter_type<float*>()`.
template <class T>
[[nodiscard]] ParameterType parameter_type() {
  return detail::parameter<T>();
}

/// One kernel of a Module with a signature that was put together while the program ran. It was checked against the code
/// object as that of a Kernel is. Shares the loaded code object as Kernel does.
class FASTDISPATCH_EXPORT DynamicKernel {
public:
  DynamicKernel(std::shared_ptr<const detail::KernelInfo> info, std::span<const ParameterType> signature)
      : info_(std::move(info)), signature_(signature.begin(), signature.end()) {}

  /// As messages show it: the name of a C++ kernel is demangled, with its parameters.
  [[nodiscard]] std::string_view name() const { return info_->name; }
  [[nodiscard]] std::span<const ParameterType> signature() const { return signature_; }
  /// Work-items: the size that the kernel was compiled for, or the agent's limit where that is smaller.
  [[nodiscard]] std::uint32_t max_group_size() const { return info_->max_group_size; }
  /// How many work-groups of `grid` the kernel's GPU holds at a time: whole groups, with the grid's dynamic LDS and
  /// `local_memory` bytes for LocalMemory (see local_memory). Only the grid's groups matter, not its size.
  /// Throws Error when the kernel can't run in such groups, and when the library does not know the GPU's compute units.
  [[nodiscard]] Occupancy occupancy(const Grid& grid, std::uint64_t local_memory = 0) const {
    return detail::occupancy_of(*info_, grid, local_memory);
  }
  [[nodiscard]] const detail::KernelInfo& info() const { return *info_; }

  /// The group memory that the LocalMemory among `arguments` adds, in bytes. Each argument is the bytes of a value of
  /// its parameter's type.
  /// Throws Error when there are more or fewer arguments than parameters, or when one has not its parameter's size.
  [[nodiscard]] std::uint64_t local_memory(std::span<const std::span<const std::byte>> arguments) const;
  /// Writes the arguments, for which local_memory has not thrown, to where the code object wants them.
  void write_arguments(std::byte* kernarg, std::span<const std::span<const std::byte>> arguments) const noexcept;

private:
  std::shared_ptr<const detail::KernelInfo> info_;
  std::vector<ParameterType> signature_;
};

}  // namespace fastdispatch
