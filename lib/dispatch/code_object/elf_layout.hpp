// Checking an ELF file before ROCr's loader, which trusts it, gets to see it.
#pragma once

#include "dispatch/code_object/byte_reader.hpp"

namespace fastdispatch::detail {

// Throws Error unless every table, segment and section lies in the file, every name is a string of its table, and every
// symbol and relocation lies in a segment that is loaded. ROCr aborts the process where these do not hold.
void check_elf_layout(const ByteReader& elf);

}  // namespace fastdispatch::detail
