// `benchmarks copies`: ways to bring pageable memory to the device and back, by size, and where locking it begins to
// pay.
#pragma once

#include <string>

void run_copy_suite(int rounds, const std::string& json);
