// The end of every program: its exit code, or its error in one line.
#pragma once

#include <functional>

/// Returns `run`'s exit code, or prints its exception in one line that begins with `name` and returns 1.
[[nodiscard]] int run_program(const char* name, const std::function<int()>& run);
