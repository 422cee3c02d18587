// Checks an ELF file for ROCr's loader, which trusts the file.
#pragma once

#include "dispatch/code_object/byte_reader.hpp"

namespace fastdispatch::detail {

// Throws Error unless every table, segment, section and note lies in the file, every name is a string of its table,
// every section is what its name says, and every symbol and relocation is defined and lies in a segment that is loaded.
// Otherwise ROCr would follow pointers to nowhere, or abort the process.
void check_elf_layout(const ByteReader& elf);

}  // namespace fastdispatch::detail
