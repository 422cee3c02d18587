// Code objects, loaded.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fastdispatch/agent.hpp"
#include "fastdispatch/detail/export.hpp"
#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/kernel.hpp"

namespace fastdispatch {

/// Owner of a code object loaded for one agent; move-only. Its kernels are views into it, so it must outlive them and
/// what was dispatched with them.
///
/// Thread safety: load and the const members may be called from any thread.
class FASTDISPATCH_EXPORT Module {
public:
  /// From an ELF code object or a clang offload bundle, of which the entry that fits the agent best is taken. Throws
  /// Error when the file can't be read, is damaged or compressed, or has nothing for the agent; the text then lists
  /// what it has.
  [[nodiscard]] static Module load(Agent agent, const std::filesystem::path& file);
  /// The same from memory, which is copied: an embedded code object, for instance. `name` is for error texts.
  [[nodiscard]] static Module load(Agent agent, std::span<const std::byte> image, std::string_view name = "memory");

  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  /// The kernel of that name: as its symbol says or, for a C++ kernel, its source name where only one has it.
  /// `Signature` is void(parameters...). Throws Error, listing the kernels, when there is none, and when count, size or
  /// kind of the parameters are not what the code object was compiled with.
  template <class Signature>
  [[nodiscard]] Kernel<Signature> kernel(std::string_view name) const;

  [[nodiscard]] std::vector<std::string> kernel_names() const;
  /// The target that the loaded code object was compiled for, such as "gfx90a:xnack-".
  [[nodiscard]] std::string target() const;

private:
  struct State;
  explicit Module(std::unique_ptr<State> state);
  [[nodiscard]] const detail::KernelInfo& find(std::string_view name,
                                               std::span<const detail::Parameter> parameters) const;

  std::unique_ptr<State> state_;
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
Kernel<Signature> Module::kernel(std::string_view name) const {
  return Kernel<Signature>(find(name, detail::ParametersOf<Signature>::list()));
}

}  // namespace fastdispatch
