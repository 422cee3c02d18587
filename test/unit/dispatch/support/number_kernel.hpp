// A kernel of one number, for tests that look at its packets only.
#pragma once

#include "fastdispatch/detail/kernel_info.hpp"
#include "fastdispatch/kernel.hpp"

namespace fastdispatch::test {

inline const detail::KernelInfo number_kernel_info{.name = "kernel",
                                                   .object = 0x1000,
                                                   .kernarg_size = 4,
                                                   .max_group_size = 1024,
                                                   .max_group_segment_size = 65536,
                                                   .arguments = {{0, 4}},
                                                   .implicit_arguments = {}};

[[nodiscard]] inline Kernel<void(unsigned)> number_kernel() { return Kernel<void(unsigned)>{number_kernel_info}; }

}  // namespace fastdispatch::test
