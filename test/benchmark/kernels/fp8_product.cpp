#include "problem.hpp"
#include "values.hpp"

#include <array>

namespace kernel_problems {
namespace {

/// A code of E4M3 as the Open Compute Project defines it, and what it means.
struct Number {
  std::uint8_t bits;
  float value;
};
constexpr std::array<Number, 8> codes = {
    {{0x00, 0}, {0x30, 0.5F}, {0x38, 1}, {0x3c, 1.5F}, {0x40, 2}, {0xb0, -0.5F}, {0xb8, -1}, {0xc0, -2}}};

struct Matrix {
  std::vector<std::uint8_t> bits;
  std::vector<float> values;

  Matrix(std::uint32_t seed, std::size_t count) {
    RandomNumbers random(seed);
    for (std::size_t i = 0; i < count; ++i) {
      const Number& number = codes.at(random.next() >> 8 & 7);
      bits.push_back(number.bits);
      values.push_back(number.value);
    }
  }
};

/// Looks at every 31st row. All sums are exact.
Problem product() {
  constexpr std::uint32_t size = 1024;
  const Matrix a(41, size * size), b(42, size * size);
  Problem problem{.source = "fp8_product"};
  const auto in_a = problem.add(a.bits);
  const auto in_b = problem.add(b.bits);
  const auto out = problem.add(std::vector<float>(size * size));
  problem.launches = {{"fp8_product", {size / 32 * 64, size / 32}, {64, 1}, {in_a, in_b, out, size}}};
  problem.check = [=](std::span<const Buffer> buffers) {
    const auto found = buffers[out.number].as<float>();
    for (std::size_t row = 0; row < size; row += 31) {
      std::vector<float> expected(size);
      for (std::size_t column = 0; column < size; ++column)
        for (std::size_t i = 0; i < size; ++i)
          expected[column] += a.values[row * size + i] * b.values[column * size + i];
      const auto begin = found.begin() + static_cast<std::ptrdiff_t>(row * size);
      require_equal(std::vector(begin, begin + size), expected);
    }
  };
  return problem;
}

}  // namespace

NamedProblem fp8_product() { return {"product of 8-bit floats", product, Compiled::for_gfx950}; }

}  // namespace kernel_problems
