// `benchmarks softgpu`: the soft GPU compared with PoCL, which runs the same kernels in OpenCL C on the same cores; and
// the cost of a process's first kernel.
#pragma once

#include <string>

void run_softgpu_suite(int rounds, const std::string& json);
