#include "sequence.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace {

constexpr std::size_t last_exact = 78;  // F(79) takes 54 bits

}  // namespace

std::vector<long double> fibonacci_numbers(std::size_t count) {
  std::vector<long double> numbers = {0, 1};
  while (numbers.size() < count) numbers.push_back(numbers.end()[-1] + numbers.end()[-2]);
  numbers.resize(count);
  return numbers;
}

double largest_error(std::span<const double> row, std::span<const long double> expected, Written written) {
  if (written == Written::ones) {
    return std::all_of(row.begin(), row.end(), [](double number) { return number == 1; })
               ? 0
               : std::numeric_limits<double>::infinity();
  }
  double largest = 0;
  for (std::size_t n = written == Written::last_number ? row.size() - 1 : 0; n < row.size(); ++n) {
    if (row[n] == static_cast<double>(expected[n])) continue;
    if (n <= last_exact || std::isnan(row[n])) return std::numeric_limits<double>::infinity();
    largest = std::max(largest, static_cast<double>(std::abs(row[n] / expected[n] - 1)));
  }
  return largest;
}
