// Seeded disorder: permutations of packets, which the packet processing model allows to run in any order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace softgpu::command_processor {

/// A permutation of [0, n) that needs no table: i -> (factor * i + offset) mod n. The default is the identity.
class IndexPermutation {
public:
  IndexPermutation() = default;

  IndexPermutation(std::uint64_t count, std::mt19937_64& random) : count_(count) {
    if (count_ < 2) return;
    offset_ = random() % count_;
    do {
      factor_ = 1 + random() % (count_ - 1);
    } while (std::gcd(factor_, count_) != 1);
  }

  [[nodiscard]] bool is_identity() const noexcept { return count_ < 2; }
  [[nodiscard]] std::uint64_t operator()(std::uint64_t index) const noexcept {
    if (count_ < 2) return index;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((Wide{factor_} * index + offset_) % count_);
  }

private:
  std::uint64_t count_ = 0;
  std::uint64_t factor_ = 1;
  std::uint64_t offset_ = 0;
};

}  // namespace softgpu::command_processor
