// A random program.
#pragma once

#include <cstdint>
#include <string>

namespace random_programs {

/// One HIP source, the same for a seed everywhere: kernels `kernel_K(u64* out, u64 seed)`, each of which stores what
/// `function_K(seed, item)` returns for its work-item. Compiled as C++, it has functions
/// `host_K(u64* out, u64 seed, u32 items)` instead. Seeds for them are below 2^32.
[[nodiscard]] std::string program(std::uint64_t seed, unsigned kernels);

}  // namespace random_programs
