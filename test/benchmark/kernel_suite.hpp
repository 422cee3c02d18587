// `benchmarks kernels`: kernels of many fields on the soft GPU, beside the same sources on OpenCL's CPU device.
#pragma once

#include <string>

/// Each measurement is a process of its own. Measures only the problems whose names have `only` in them.
/// Throws std::runtime_error when one fails, or there is none.
void run_kernel_suite(int rounds, const std::string& only, const std::string& json);
