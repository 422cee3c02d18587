#include "host_sums.hpp"

#include "host_loop.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

void sum_rows(const Matrix& matrix, std::size_t first, std::size_t last, std::span<float> sums) {
  // Enough sums at a time to hide the latency of an addition. With one sum, each addition waits for the addition
  // before, and the compiler must not reorder them.
  constexpr std::size_t lanes = 32;
  for (std::size_t row = first; row < last; ++row) {
    const std::span<const float> elements = matrix.row(row);
    std::array<float, lanes> partial{};
    std::size_t column = 0;
    for (; column + lanes <= elements.size(); column += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) partial[lane] += elements[column + lane];
    }
    float sum = 0;
    for (const float lane : partial) sum += lane;
    for (; column < elements.size(); ++column) sum += elements[column];
    sums[row] = sum;
  }
}

ExactSums::ExactSums(const Matrix& matrix) : sums_(matrix.rows), magnitudes_(matrix.rows) {
  for_each_band(matrix.rows, [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first; row < last; ++row) {
      for (const float element : matrix.row(row)) {
        sums_[row] += double{element};
        magnitudes_[row] += std::abs(double{element});
      }
    }
  });
  const auto large = std::find_if(magnitudes_.begin(), magnitudes_.end(), [](double magnitude) {
    return magnitude > double{std::numeric_limits<float>::max()};
  });
  if (large != magnitudes_.end()) {
    throw std::runtime_error("row " + std::to_string(large - magnitudes_.begin()) +
                             " adds up to more than a float holds");
  }
}

double ExactSums::largest_error(std::span<const float> sums) const {
  double largest = 0;
  for (std::size_t row = 0; row < sums_.size(); ++row) {
    const double difference = std::abs(double{sums[row]} - sums_[row]);
    const double error = difference == 0 ? 0 : difference / magnitudes_[row];
    if (!(error <= largest)) largest = std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
  }
  return largest;
}
