// Executables and shared libraries as the dynamic loader has mapped them: the module of an address, and its build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softgpu::compute {

struct LoadedModule {
  std::uint64_t base = 0;  ///< offsets count from here
  std::uint64_t size = 0;  ///< the offset of its end
  std::string build_id;    ///< bytes that the linker made from its content; empty if it has no build id

  /// The module that `address` is in; it may be the address of a function.
  [[nodiscard]] static std::optional<LoadedModule> containing(const void* address);
  /// The module that this code is in: the soft GPU's library, or a test.
  [[nodiscard]] static const LoadedModule& own();
};

/// The name under which translated code refers to a function or a constant of own(): its offset. Unlike the address,
/// the offset is the same in every process that has loaded the same build. Throws std::logic_error for other addresses.
[[nodiscard]] std::string own_symbol(const void* address);
/// The address of such a name in this process; nothing for other names.
[[nodiscard]] std::optional<std::uint64_t> own_address(std::string_view symbol);

}  // namespace softgpu::compute
