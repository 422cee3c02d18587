// Checks an ELF file for ROCr's loader, which trusts the file.
#pragma once

#include "dispatch/code_object/byte_reader.hpp"

namespace fastdispatch::detail {

// Throws Error unless every table, segment and section lies in the file, every name is a string of its table, and every
// symbol and relocation lies in a segment that is loaded. Otherwise ROCr would abort the process.
void check_elf_layout(const ByteReader& elf);

}  // namespace fastdispatch::detail
