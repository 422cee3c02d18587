// The rows of the table.
#pragma once

#include "problem.hpp"
#include "report.hpp"
#include "variant.hpp"

#include <cstddef>
#include <span>
#include <vector>

/// Times all variants in turns, verifies each, and returns a row for each. They begin with those of kernel_variants.
/// Throws std::runtime_error when a row's sum is more than a float holds.
[[nodiscard]] std::vector<Row> measure(Problem& problem, std::span<const Variant> variants, std::size_t iterations);
