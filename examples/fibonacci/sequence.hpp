// The Fibonacci numbers, and how far results are from them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// A variant's result in each repetition's row.
enum class Written { numbers, last_number, ones };

/// F(0) to F(count - 1), to more digits than a double has.
[[nodiscard]] std::vector<long double> fibonacci_numbers(std::size_t count);

/// The largest error of a row, relative to the number; infinite if a number that must be exact is wrong.
[[nodiscard]] double largest_error(std::span<const double> row, std::span<const long double> expected, Written written);
