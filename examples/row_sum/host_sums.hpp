// Row sums by the host, to compare with the GPU's times and results.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// A view of floats, row after row.
struct Matrix {
  std::span<const float> elements;
  std::size_t rows;
  std::size_t columns;

  [[nodiscard]] std::span<const float> row(std::size_t index) const {
    return elements.subspan(index * columns, columns);
  }
};

/// Sums of the rows from `first` to before `last` in single precision, in one pass by vector instructions.
void sum_rows(const Matrix& matrix, std::size_t first, std::size_t last, std::span<float> sums);

/// Sums in double precision, to find a float's rounding errors.
class ExactSums {
public:
  /// Throws std::runtime_error when a row's sum is more than a float holds.
  explicit ExactSums(const Matrix& matrix);

  /// The largest error of a row, relative to the sum of its elements' magnitudes; not finite where a sum is missing.
  [[nodiscard]] double largest_error(std::span<const float> sums) const;

private:
  std::vector<double> sums_;
  std::vector<double> magnitudes_;
};
