// The contents of a code object file.
#pragma once

#include "document.hpp"
#include "machine_code.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

struct DumpOptions {
  std::optional<std::string> target;  ///< the code objects for this target alone, such as gfx90a or gfx90a:xnack-
  std::optional<std::string> kernel;  ///< by any name that means it
  std::optional<std::uint32_t> group_work_items;  ///< nothing: 256, or the most that the kernel allows
  std::uint32_t dynamic_lds_bytes = 0;
  bool shows_implicit_arguments = false;
  bool disassembles = false;
};

/// The entries of a bundle; of each code object the kernels with their arguments and resources; the instructions.
/// Throws fastdispatch::Error or std::runtime_error when the file is damaged, or when what the options name is not
/// there.
[[nodiscard]] Document describe_file(std::span<const std::byte> file, const std::string& name,
                                     const DumpOptions& options);
