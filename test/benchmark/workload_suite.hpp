// `benchmarks workloads`: the example programs' speeds beside the host's and beside one another's.
#pragma once

#include <string>

/// Runs the examples on the sizes that their targets are stated for, `rounds` times in turns of their own.
/// Throws std::runtime_error when an example fails.
void run_workload_suite(int rounds, const std::string& json);
