// Which compute units of an agent a queue may use.
//
// Thread safety: any thread may read while another sets the mask.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace softgpu::compute {

/// Shader engines of an agent with so many compute units. Compute unit i is in engine i modulo their number, as the
/// kernel driver spreads the bits of a mask.
[[nodiscard]] constexpr std::uint32_t shader_engines(std::uint32_t compute_units) {
  return std::min(compute_units, 8U);
}

class ComputeUnits {
public:
  static constexpr std::uint32_t most = 512;

  /// All `count` of an agent, from 1 to `most`.
  explicit ComputeUnits(std::uint32_t count) : count_(count) { enable({}); }

  /// Bit i of the mask is compute unit i. If no compute unit of the agent has its bit set, all are enabled.
  void enable(std::span<const std::uint32_t> mask) noexcept {
    bool is_any = false;
    for (std::size_t word = 0; word < enabled_.size() && word < mask.size(); ++word)
      is_any |= (mask[word] & all(word)) != 0;
    for (std::size_t word = 0; word < enabled_.size(); ++word) {
      const std::uint32_t chosen = word < mask.size() ? mask[word] : 0;
      enabled_[word].store(is_any ? chosen & all(word) : all(word), std::memory_order_relaxed);
    }
  }

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint32_t enabled_count() const noexcept {
    std::uint32_t enabled = 0;
    for (const auto& word : enabled_) enabled += static_cast<std::uint32_t>(std::popcount(word.load(relaxed)));
    return enabled;
  }
  /// The enabled compute unit after `n` others.
  [[nodiscard]] std::uint32_t enabled(std::uint32_t n) const noexcept {
    for (std::size_t word = 0; word < enabled_.size(); ++word) {
      std::uint32_t bits = enabled_[word].load(relaxed);
      const auto here = static_cast<std::uint32_t>(std::popcount(bits));
      if (n >= here) {
        n -= here;
        continue;
      }
      for (; n != 0; --n) bits &= bits - 1;
      return static_cast<std::uint32_t>(32 * word) + static_cast<std::uint32_t>(std::countr_zero(bits));
    }
    return 0;  // the mask changed meanwhile
  }

private:
  static constexpr auto relaxed = std::memory_order_relaxed;

  /// Those that the agent has among 32.
  [[nodiscard]] std::uint32_t all(std::size_t word) const noexcept {
    const std::uint32_t first = static_cast<std::uint32_t>(32 * word);
    if (first >= count_) return 0;
    return count_ - first >= 32 ? ~0U : (1U << (count_ - first)) - 1;
  }

  std::uint32_t count_;
  std::array<std::atomic<std::uint32_t>, most / 32> enabled_ = {};
};

}  // namespace softgpu::compute
