// Address ranges in which a program maps memory itself.
//
// ROCr maps and unmaps the host's view of reserved addresses by itself (mmap, munmap), so what is where is only known
// by asking the system. Where ROCr has unmapped its view, the system may have given the addresses to somebody else.
#pragma once

#include <cstdint>

namespace softgpu::thunk {

/// Makes the part of a range inaccessible and keeps it from others that is unmapped, or has pages of the file with this
/// identity. What others have mapped stays as it is. All is in whole pages.
void reserve_again(std::uint64_t base, std::uint64_t bytes, std::uint64_t file_identity);

/// Whether anything is mapped in the range that can be accessed and is not a memory file's.
[[nodiscard]] bool is_used_by_others(std::uint64_t base, std::uint64_t bytes);

}  // namespace softgpu::thunk
