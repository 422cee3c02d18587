// Times variants of the same work fairly.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

/// Microseconds that `work` takes.
[[nodiscard]] double time_of(const std::function<void()>& work);

/// Times each of `works`, in microseconds: series[i] has `iterations` times of works[i]. They take turns, so that other
/// load of the machine slows them alike. The first turn does not count: it loads the kernels and touches the memory.
[[nodiscard]] std::vector<std::vector<double>> time_in_turns(const std::vector<std::function<void()>>& works,
                                                             std::size_t iterations);
