// How often each outcome of a litmus test was seen.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "setup.hpp"

namespace softgpu::litmus {

struct Tally {
  /// An outcome's digits, two bits each, the first digit in the highest ones.
  static constexpr unsigned most_digits = 6;
  std::array<std::uint64_t, std::size_t{1} << (2 * most_digits)> seen = {};
  std::uint64_t rounds = 0;  ///< each lane's counted
  std::uint64_t torn = 0;    ///< loads that returned parts of two values

  /// Of counters and patterns, the only digit.
  enum Relation : unsigned { same, older_first, newer_first };

  void count(unsigned code) { ++seen[code]; }
  Tally& operator+=(const Tally& other);
};

/// The rounds whose outcome the model forbids, and torn loads.
[[nodiscard]] std::uint64_t forbidden_count(const Setup& setup, const Tally& tally);

/// In how many ways the threads were seen to overlap: the number of different outcomes.
[[nodiscard]] unsigned interleavings(const Tally& tally);

/// Such as "0,1: 5000  1,1: 300".
[[nodiscard]] std::string outcomes_text(const Setup& setup, const Tally& tally);

}  // namespace softgpu::litmus
