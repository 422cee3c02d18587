// Finding the ELF file for an agent in the output of hipcc and clang: a raw code object or an offload bundle, once
// uncompressed_file.hpp has decompressed it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/code_object/target_id.hpp"

namespace fastdispatch::detail {

// Views one code object inside a file.
struct CodeObject {
  std::string entry;  // the bundle entry's id; for a raw ELF file its target
  TargetId target;
  unsigned version = 0;    // of the format: 3 and later
  std::size_t offset = 0;  // in the file
  std::span<const std::byte> elf;
};

// The code object of `file` that runs on the device `isa` names, the most specific one where several do. `name` is for
// error texts. Throws Error when the file is damaged, no code object at all, or has none for the device.
[[nodiscard]] CodeObject select_code_object(std::span<const std::byte> file, std::string_view name,
                                            std::string_view isa);

// An entry of a bundle, or a raw ELF file as its only entry.
struct FileEntry {
  std::string id;  // for a raw ELF file its target
  std::size_t offset = 0;
  std::size_t size = 0;
  std::optional<CodeObject> code_object{};  // nothing for the host's entry, and for other targets than AMD's HSA
};

// All entries of `file`, in its order. Throws Error when the file or one of its code objects is damaged, or no code
// object at all.
[[nodiscard]] std::vector<FileEntry> read_entries(std::span<const std::byte> file, std::string_view name);

}  // namespace fastdispatch::detail
