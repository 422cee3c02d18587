#include "exact_product.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace {

constexpr float largest = 1U << 24U;

bool is_exact(float value) { return std::fabs(value) <= largest && std::trunc(value) == value; }

// Negative numbers wrap around: arithmetic modulo 2^64.
std::uint64_t integer(float value) { return static_cast<std::uint64_t>(static_cast<std::int64_t>(value)); }

std::uint64_t dot(std::span<const float> row, std::span<const std::uint64_t> x) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < row.size(); ++i) sum += integer(row[i]) * x[i];
  return sum;
}

std::vector<std::uint64_t> product(std::span<const float> matrix, std::span<const std::uint64_t> x) {
  std::vector<std::uint64_t> result(matrix.size() / x.size());
  for (std::size_t row = 0; row < result.size(); ++row) result[row] = dot(matrix.subspan(row * x.size(), x.size()), x);
  return result;
}

}  // namespace

std::vector<float> random_integers(std::size_t size, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> integers(-4, 4);
  std::vector<float> values(size);
  std::generate(values.begin(), values.end(), [&] { return static_cast<float>(integers(random)); });
  return values;
}

ProductCheck::ProductCheck(const Shape& shape, std::span<const float> a, std::span<const float> b) : x_(shape.columns) {
  std::mt19937_64 random(std::random_device{}());
  std::generate(x_.begin(), x_.end(), std::ref(random));
  expected_ = product(a, product(b, x_));
}

std::optional<std::size_t> ProductCheck::first_wrong_row(std::span<const float> c) const {
  for (std::size_t row = 0; row < expected_.size(); ++row) {
    const std::span<const float> values = c.subspan(row * x_.size(), x_.size());
    if (!std::all_of(values.begin(), values.end(), is_exact) || dot(values, x_) != expected_[row]) return row;
  }
  return std::nullopt;
}
