// Executables and shared libraries as the dynamic loader has mapped them: which one an address is in, and its build.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace softgpu::compute {

struct LoadedModule {
  std::uint64_t base = 0;  ///< what offsets count from
  std::uint64_t size = 0;  ///< the offset of its end
  std::string build_id;    ///< bytes that the linker made from its content; empty where it has none

  /// The one that `address` is in, which may be a function's.
  [[nodiscard]] static std::optional<LoadedModule> containing(const void* address);
  /// The one that this code is in: the soft GPU's library, or a test.
  [[nodiscard]] static const LoadedModule& own();
};

/// The name under which translated code refers to a function or a constant of own(): its offset. Unlike the address it
/// is the same in every process that has loaded the same build. Throws std::logic_error for what lies elsewhere.
[[nodiscard]] std::string own_symbol(const void* address);
/// The address of such a name in this process; nothing for other names.
[[nodiscard]] std::optional<std::uint64_t> own_address(std::string_view symbol);

}  // namespace softgpu::compute
