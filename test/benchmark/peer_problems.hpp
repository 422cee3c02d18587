// The inputs of both the soft GPU and OpenCL: sizes and values. Sums of small whole numbers are exact in floats, in any
// order of addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace peer_problems {

inline constexpr std::uint32_t product_size = 512;  // of square matrices
inline constexpr std::uint32_t product_tile = 16;
inline constexpr std::uint32_t sum_rows = 1024;
inline constexpr std::uint32_t sum_columns = 4096;
inline constexpr std::uint32_t sum_group = 256;
inline constexpr std::uint32_t scan_blocks = 4096;
inline constexpr std::uint32_t scan_block = 256;
inline constexpr std::uint32_t first_pairs = 64;  // that the first pass of a sort compares, in a start-up

inline std::vector<float> small_numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> numbers(count);
  for (float& number : numbers) {
    seed = seed * 1664525 + 1013904223;
    number = static_cast<float>(seed >> 29) - 4;
  }
  return numbers;
}

inline std::vector<float> product_a() { return small_numbers(std::size_t{product_size} * product_size, 1); }
inline std::vector<float> product_b() { return small_numbers(std::size_t{product_size} * product_size, 2); }
inline std::vector<float> sum_matrix() { return small_numbers(std::size_t{sum_rows} * sum_columns, 3); }

inline std::vector<float> scan_numbers() { return small_numbers(std::size_t{scan_blocks} * scan_block, 4); }

/// Looks at every 17th row of `c`.
template <class Numbers>
void check_product(const std::vector<float>& a, const std::vector<float>& b, const Numbers& c) {
  for (std::size_t row = 0; row < product_size; row += 17) {
    std::vector<float> expected(product_size);
    for (std::size_t k = 0; k < product_size; ++k)
      for (std::size_t column = 0; column < product_size; ++column)
        expected[column] += a[row * product_size + k] * b[k * product_size + column];
    for (std::size_t column = 0; column < product_size; ++column)
      if (c[row * product_size + column] != expected[column]) throw std::runtime_error("a product went wrong");
  }
}

template <class Numbers>
void check_sums(const std::vector<float>& matrix, const Numbers& sums) {
  for (std::size_t row = 0; row < sum_rows; ++row) {
    float expected = 0;
    for (std::size_t column = 0; column < sum_columns; ++column) expected += matrix[row * sum_columns + column];
    if (sums[row] != expected) throw std::runtime_error("a row's sum went wrong");
  }
}

template <class Numbers>
void check_scan(const std::vector<float>& numbers, const Numbers& sums) {
  float expected = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    expected = i % scan_block == 0 ? numbers[i] : expected + numbers[i];
    if (sums[i] != expected) throw std::runtime_error("a sum of a scan went wrong");
  }
}

}  // namespace peer_problems
