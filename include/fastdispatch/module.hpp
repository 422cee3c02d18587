// Code objects, loaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/detail/owner.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/dynamic_kernel.hpp"
#include "fastdispatch/kernel.hpp"

namespace fastdispatch {

struct ModuleOptions {
  static constexpr std::uint32_t most_stack_bytes = 131056;  ///< HIP's limit

  /// The stack of one work-item in kernels whose need the compiler cannot tell: kernels with recursion, or with calls
  /// through pointers, in code objects from v5 on (`.uses_dynamic_stack`). A kernel that needs more overwrites other
  /// memory of its own, or faults. A multiple of 16. The default is HIP's (hipLimitStackSize).
  std::uint32_t dynamic_stack_bytes = 1024;
};

/// Owner of a code object loaded for one agent; move-only. Its kernels share the code object, which is unloaded when
/// the Module and they are gone: one of them must outlive the kernels' dispatches. A module that was moved from may be
/// destroyed and assigned to; all else throws Error.
///
/// Thread safety: load and the const members may be called from any thread.
class FASTDISPATCH_EXPORT Module {
public:
  /// Loads an ELF code object, or the entry of a clang offload bundle, compressed or not, that fits the agent best.
  /// Throws Error when the file can't be read, is damaged, was compressed by what the library was built without, or has
  /// nothing for the agent; the text then lists the file's targets. Throws Error when `options` are out of range.
  [[nodiscard]] static Module load(Agent agent, const std::filesystem::path& file, const ModuleOptions& options = {});
  /// The same from memory, which is copied: an embedded code object, for instance. `name` is for error texts.
  [[nodiscard]] static Module load(Agent agent, std::span<const std::byte> image, std::string_view name = "memory",
                                   const ModuleOptions& options = {});

  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  /// The kernel that `name` means: the mangled name, the symbol, or for a C++ kernel its name in the source, with or
  /// without parameters and template arguments: "sort", "space::sort<float>", "sort(unsigned int*, unsigned int)".
  /// White space does not count. `Signature` is void(parameters...).
  ///
  /// Throws Error, with the names of candidates, when there is no such kernel, or more than one. Throws Error, with
  /// both types, when the signature does not fit the code object:
  /// - the count of the parameters, a size, or pointer against value differ
  /// - the kernel's mangled name (or OpenCL's metadata) tells another type: float for an integer, elements of another
  ///   size. Integers of one width are one type. The host may have other names for structures, enumerations and
  ///   vectors: they fit all types. `void*` fits every pointer.
  /// - a parameter is `const T*`, and the mangled name or the metadata say that the kernel may write there
  /// - the kernel wants an implicit argument that the library does not have
  ///
  /// The first kernel of an agent that calls the host (`printf`, `assert`, `malloc` in device code) starts a thread
  /// that serves these calls and ends with the runtime; see docs/hostcall.md. Throws Error when HSA has no signal or
  /// memory left for it.
  template <class Signature>
  [[nodiscard]] Kernel<Signature> kernel(std::string_view name) const&;
  /// The same with a signature that is put together while the program runs. Throws Error likewise.
  [[nodiscard]] DynamicKernel kernel(std::string_view name, std::span<const ParameterType> signature) const&;
  /// The code object of a module without a name could be gone before the kernel's dispatch ran.
  template <class Signature>
  Kernel<Signature> kernel(std::string_view name) const&& = delete;
  DynamicKernel kernel(std::string_view name, std::span<const ParameterType> signature) const&& = delete;

  /// What the code object says of the kernel that `name` means, as in `kernel`.
  /// Throws Error when there is no such kernel, or more than one.
  [[nodiscard]] KernelDescription describe(std::string_view name) const;

  /// The elements of a variable in device memory (`__device__` or `__constant__` in HIP): a kernel's argument and a
  /// side of a copy, valid while the module is loaded. `name` is the symbol, or for a variable in a namespace its name
  /// in the source. Kernels that use the variable do not tell: with Fences::derived say so by Batch::touches. Throws
  /// Error, with the names of all variables, when there is no such variable, and when its size is no multiple of
  /// sizeof(T).
  template <class T>
  [[nodiscard]] DeviceSpan<T> variable(std::string_view name) const& {
    static_assert(std::is_trivially_copyable_v<T>, "device memory holds trivially copyable types only");
    return DeviceSpan<T>(find_variable(name, sizeof(T)));
  }
  template <class T>
  DeviceSpan<T> variable(std::string_view name) const&& = delete;

  /// As in the code object: the names of C++ kernels are mangled.
  [[nodiscard]] std::vector<std::string> kernel_names() const;
  /// The target that the loaded code object was compiled for, such as "gfx90a:xnack-".
  [[nodiscard]] std::string target() const;

private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  [[nodiscard]] MemoryView find_variable(std::string_view name, std::size_t element_bytes) const;
  [[nodiscard]] std::shared_ptr<const detail::KernelInfo> find(std::string_view name,
                                                               std::span<const detail::Parameter> parameters) const;

  detail::Owner<State> state_;
};

// ---- details

namespace detail {
template <class Signature>
struct ParametersOf;
template <class... Parameters>
struct ParametersOf<void(Parameters...)> {
  static std::vector<Parameter> list() { return {parameter<Parameters>()...}; }
};
}  // namespace detail

template <class Signature>
Kernel<Signature> Module::kernel(std::string_view name) const& {
  return Kernel<Signature>(find(name, detail::ParametersOf<Signature>::list()));
}

}  // namespace fastdispatch
