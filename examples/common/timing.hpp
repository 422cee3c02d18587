// Times variants of the same work fairly.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

/// Microseconds that `work` takes.
[[nodiscard]] double time_of(const std::function<void()>& work);

/// Times each of `works`, in microseconds: series[i] has `iterations` times of works[i]. They take turns, so that what
/// else the machine does at some time strikes them alike; the first turn does not count: it loads the kernels and
/// touches the memory.
[[nodiscard]] std::vector<std::vector<double>> time_in_turns(const std::vector<std::function<void()>>& works,
                                                             std::size_t iterations);
