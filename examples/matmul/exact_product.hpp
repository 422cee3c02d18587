// Matrices whose products are exact, and a check of a product that costs much less than the product.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Of C = A B, row-major: A is rows x inner, B inner x columns. The kernels take it like this.
struct Shape {
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t inner;
};

/// The longest sum that is exact: 2^20 products of at most 4 * 4 are at most 2^24, up to which floats hold every
/// integer.
inline constexpr std::size_t longest_inner = std::size_t{1} << 20U;

/// Random integers from -4 to 4. Their products are exact in single precision, and so are the sums, in any order of
/// addition: results compare without a tolerance.
[[nodiscard]] std::vector<float> random_integers(std::size_t size, std::uint32_t seed);

/// Freivalds' check: C is A B if C x is A (B x) for a random vector x. The check takes the host as many operations as
/// the matrices have elements. All arithmetic is in integers modulo 2^64. A wrong element is off by less than 2^26: its
/// row differs for all but at most one in 2^38 values of x's element.
class ProductCheck {
public:
  ProductCheck(const Shape& shape, std::span<const float> a, std::span<const float> b);

  /// The first row of `c` that differs from the product's.
  [[nodiscard]] std::optional<std::size_t> first_wrong_row(std::span<const float> c) const;

private:
  std::vector<std::uint64_t> x_;         // one a column
  std::vector<std::uint64_t> expected_;  // one a row
};
