// What a GPU does at most, measured: the two limits of the roofline model.
#pragma once

#include "report.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <vector>

/// A kernel that does so many operations for each byte that it moves is not faster than gflops, nor than
/// gigabytes_per_second times that.
struct Roofline {
  double gigabytes_per_second;  ///< read from memory
  double gflops;                ///< multiply-adds on registers, each two operations
};

/// Measures both and adds a row for each to `rows`.
[[nodiscard]] Roofline measure_roofline(fastdispatch::Agent gpu, fastdispatch::Queue& queue, std::size_t iterations,
                                        std::vector<Row>& rows);
