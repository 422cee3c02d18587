// Inputs of problems, and comparisons of results.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kernel_problems {

/// The element of a square whose rows are one after the other.
inline std::size_t place(int row, int column, int size) {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(size) + static_cast<std::size_t>(column);
}

class RandomNumbers {
public:
  explicit RandomNumbers(std::uint32_t seed) : state_(seed) {}

  std::uint32_t next() {
    state_ = state_ * 1664525 + 1013904223;
    return state_ ^ (state_ >> 16);
  }

  [[nodiscard]] std::vector<std::uint32_t> whole(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    for (auto& number : numbers) number = next();
    return numbers;
  }
  [[nodiscard]] std::vector<std::uint8_t> bytes(std::size_t count) {
    std::vector<std::uint8_t> numbers(count);
    for (auto& number : numbers) number = static_cast<std::uint8_t>(next() >> 8);
    return numbers;
  }
  /// -4 to 3: sums of millions of them are exact in floats, in any order.
  [[nodiscard]] std::vector<float> small(std::size_t count) {
    std::vector<float> numbers(count);
    for (auto& number : numbers) number = static_cast<float>(next() % 8) - 4;
    return numbers;
  }
  [[nodiscard]] std::vector<float> between(std::size_t count, float least, float most) {
    std::vector<float> numbers(count);
    for (auto& number : numbers) number = least + (most - least) * static_cast<float>(next() % 65536) / 65536;
    return numbers;
  }

private:
  std::uint32_t state_;
};

template <class T>
void require_equal(const std::vector<T>& found, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (found.at(i) != expected[i])
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(found[i]) + " instead of " +
                               std::to_string(expected[i]));
}

/// `error` is relative to the largest of the expected values.
template <class T>
void require_near(const std::vector<float>& found, const std::vector<T>& expected, double error) {
  double largest = 0;
  for (const T value : expected) largest = std::fmax(largest, std::fabs(static_cast<double>(value)));
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (!(std::fabs(found.at(i) - static_cast<double>(expected[i])) <= error * largest))
      throw std::runtime_error("element " + std::to_string(i) + " is " + std::to_string(found[i]) + " instead of " +
                               std::to_string(expected[i]));
}

}  // namespace kernel_problems
