// `benchmarks softgpu`: the soft GPU beside PoCL, which runs the same kernels in OpenCL C on the same cores, and what
// the first kernel of a process costs.
#pragma once

#include <string>

void run_softgpu_suite(int rounds, const std::string& json);
