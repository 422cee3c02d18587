#include "problem.hpp"
#include "values.hpp"

#include <cmath>
#include <complex>
#include <numbers>

namespace kernel_problems {
namespace {

Problem saxpy() {
  constexpr std::uint32_t count = 1U << 22;
  const auto x = RandomNumbers(19).small(count), y = RandomNumbers(20).small(count);
  Problem problem{.source = "saxpy"};
  const auto in = problem.add(x);
  const auto out = problem.add(y);
  problem.launches = {{"saxpy", {count, 1}, {256, 1}, {in, out, 3.0F}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(count);
    for (std::size_t i = 0; i < count; ++i) expected[i] = 3 * x[i] + y[i];
    require_equal(buffers[out.number].as<float>(), expected);
  };
  return problem;
}

/// Looks at every 17th row.
Problem product(const char* kernel, std::array<std::uint32_t, 2> group) {
  constexpr std::uint32_t size = 512;
  const auto a = RandomNumbers(21).small(size * size), b = RandomNumbers(22).small(size * size);
  Problem problem{.source = kernel};
  const auto in_a = problem.add(a);
  const auto in_b = problem.add(b);
  const auto out = problem.add(std::vector<float>(size * size));
  problem.launches = {{kernel, {size, size}, group, {in_a, in_b, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    const auto found = buffers[out.number].as<float>();
    for (std::size_t row = 0; row < size; row += 17) {
      std::vector<float> expected(size);
      for (std::size_t i = 0; i < size; ++i)
        for (std::size_t column = 0; column < size; ++column)
          expected[column] += a[row * size + i] * b[i * size + column];
      const auto begin = found.begin() + static_cast<std::ptrdiff_t>(row * size);
      require_equal(std::vector(begin, begin + size), expected);
    }
  };
  return problem;
}

Problem transpose() {
  constexpr std::uint32_t size = 2048;
  const auto matrix = RandomNumbers(23).small(std::size_t{size} * size);
  Problem problem{.source = "transpose"};
  const auto in = problem.add(matrix);
  const auto out = problem.add(std::vector<float>(matrix.size()));
  problem.launches = {{"transpose", {size, size}, {16, 16}, {in, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(matrix.size());
    for (std::size_t row = 0; row < size; ++row)
      for (std::size_t column = 0; column < size; ++column) expected[column * size + row] = matrix[row * size + column];
    require_equal(buffers[out.number].as<float>(), expected);
  };
  return problem;
}

Problem matrix_vector() {
  constexpr std::uint32_t rows = 8192, columns = 512;
  const auto matrix = RandomNumbers(24).small(std::size_t{rows} * columns), vector = RandomNumbers(25).small(columns);
  Problem problem{.source = "matrix_vector"};
  const auto in = problem.add(matrix);
  const auto by = problem.add(vector);
  const auto out = problem.add(std::vector<float>(rows));
  problem.launches = {{"matrix_vector", {rows, 1}, {256, 1}, {in, by, out, rows, columns}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(rows);
    for (std::size_t column = 0; column < columns; ++column)
      for (std::size_t row = 0; row < rows; ++row) expected[row] += matrix[column * rows + row] * vector[column];
    require_equal(buffers[out.number].as<float>(), expected);
  };
  return problem;
}

/// Rows have 0 to 31 numbers.
Problem sparse_product() {
  constexpr std::uint32_t rows = 65536;
  RandomNumbers random(26);
  std::vector<std::uint32_t> begins{0}, columns;
  for (std::uint32_t row = 0; row < rows; ++row) {
    for (std::uint32_t left = random.next() % 32; left > 0; --left) columns.push_back(random.next() % rows);
    begins.push_back(static_cast<std::uint32_t>(columns.size()));
  }
  const auto values = random.small(columns.size()), vector = random.small(rows);
  Problem problem{.source = "sparse_product"};
  const auto in_begins = problem.add(begins);
  const auto in_columns = problem.add(columns);
  const auto in_values = problem.add(values);
  const auto by = problem.add(vector);
  const auto out = problem.add(std::vector<float>(rows));
  problem.launches = {{"sparse_product", {rows, 1}, {256, 1}, {in_begins, in_columns, in_values, by, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    std::vector<float> expected(rows);
    for (std::size_t row = 0; row < rows; ++row)
      for (std::size_t i = begins[row]; i < begins[row + 1]; ++i) expected[row] += values[i] * vector[columns[i]];
    require_equal(buffers[out.number].as<float>(), expected);
  };
  return problem;
}

/// Looks at every 97th transform.
Problem fft() {
  constexpr std::uint32_t groups = 2048, points = 256;
  const auto numbers = RandomNumbers(27).small(std::size_t{groups} * points * 2);
  Problem problem{.source = "fft"};
  const auto in = problem.add(numbers);
  const auto out = problem.add(std::vector<float>(numbers.size()));
  problem.launches = {{"fft", {groups * 128, 1}, {128, 1}, {in, out}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    const auto found = buffers[out.number].as<float>();
    for (std::size_t group = 0; group < groups; group += 97) {
      const std::size_t begin = group * points * 2;
      std::vector<double> expected(std::size_t{points} * 2);
      for (std::size_t k = 0; k < points; ++k) {
        std::complex<double> sum;
        for (std::size_t i = 0; i < points; ++i)
          sum += std::complex<double>(numbers[begin + 2 * i], numbers[begin + 2 * i + 1]) *
                 std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k * i % points) / points);
        expected[2 * k] = sum.real();
        expected[2 * k + 1] = sum.imag();
      }
      const auto first = found.begin() + static_cast<std::ptrdiff_t>(begin);
      require_near(std::vector(first, first + points * 2), expected, 1e-5);
    }
  };
  return problem;
}

}  // namespace

std::vector<NamedProblem> linear_algebra() {
  return {{"saxpy", saxpy},
          {"product of matrices",
           [] {
             return product("product", {64, 4});
           }},
          {"product in tiles in LDS",
           [] {
             return product("product_tiles", {16, 16});
           }},
          {"transpose through LDS", transpose},
          {"matrix times vector", matrix_vector},
          {"sparse matrix times vector", sparse_product},
          {"FFT of 256 points in LDS", fft},
          {"product in tiles, -O0",
           [] {
             return product("product_tiles", {16, 16});
           },
           Compiled::not_optimized}};
}

}  // namespace kernel_problems
