// Measures a GPU's two limits in the roofline model.
#pragma once

#include "report.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <vector>

/// Two limits for a kernel of x operations for each byte that it moves: gflops, and x times gigabytes_per_second.
struct Roofline {
  double gigabytes_per_second;  ///< read from memory
  double gflops;                ///< multiply-adds on registers, each two operations
};

/// Measures both and adds a row for each to `rows`.
[[nodiscard]] Roofline measure_roofline(fastdispatch::Agent gpu, fastdispatch::Queue& queue, std::size_t iterations,
                                        std::vector<Row>& rows);
