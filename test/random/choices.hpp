// The choices of a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "value_type.hpp"

namespace random_programs {

/// A stream of choices, the same on every machine; the standard library's distributions do not promise this. Do not
/// make two choices in one expression, unless C++ defines their order.
class Choices {
public:
  explicit Choices(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] std::uint64_t bits() { return random_(); }
  /// A number from 0 to `limit` - 1.
  [[nodiscard]] std::size_t below(std::size_t limit) { return random_() % limit; }
  /// A number from `first` to `last`.
  [[nodiscard]] std::size_t between(std::size_t first, std::size_t last) { return first + below(last - first + 1); }
  [[nodiscard]] bool percent(unsigned chance) { return below(100) < chance; }

  template <class Range>
  [[nodiscard]] const auto& one_of(const Range& range) {
    return std::span(range)[below(std::size(range))];
  }

private:
  std::mt19937_64 random_;
};

/// A vector: half of them are such as packed instructions take.
[[nodiscard]] inline ValueType any_vector(Choices& choices) {
  return choices.percent(50) ? choices.one_of(types::packed_vectors) : choices.one_of(types::vectors);
}

/// A scalar or a vector.
[[nodiscard]] inline ValueType any_type(Choices& choices) {
  return choices.percent(60) ? choices.one_of(types::scalars) : any_vector(choices);
}

}  // namespace random_programs
