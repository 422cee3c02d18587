// The loop over all cores of the host that kernels are measured against.
#pragma once

#include <cstddef>
#include <functional>

/// Threads that for_each_band uses: one for each core that the program may run on.
[[nodiscard]] unsigned host_threads();

/// Splits [0, count) into a band for each thread and returns when `work(first, last)` has run over all of them.
/// The threads end with the loop. OpenMP's wait for the next loop and spin for milliseconds, which would slow down
/// whatever is measured after it.
void for_each_band(std::size_t count, const std::function<void(std::size_t first, std::size_t last)>& work);
