// Reads a launch's results and counts its outcomes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "litmus_kernel.hpp"
#include "setup.hpp"
#include "tally.hpp"

namespace softgpu::litmus {

class Evaluation {
public:
  /// Views `arguments`, one a thread, and the results that they point to.
  Evaluation(const Setup& setup, std::span<const ThreadArguments> arguments);

  void add_to(Tally& tally) const;

private:
  /// The results of one load in every round; or a variable's final values, which are not with the results.
  struct Column {
    std::uint64_t first;         ///< address of round 0
    std::uint64_t round_stride;  ///< in bytes
    std::uint32_t bytes;         ///< of an entry
    std::uint64_t lane_offsets;  ///< of entries that lie as the variables do, else 0: lane after lane
  };

  [[nodiscard]] std::uint64_t value(const Column& column, std::uint32_t round, std::uint32_t lane,
                                    std::uint32_t part) const;
  [[nodiscard]] bool is_torn(std::uint64_t value) const;
  [[nodiscard]] unsigned digit(std::uint64_t value) const;
  void add_round(Tally& tally, std::uint32_t round, std::uint32_t lane, std::uint32_t part) const;
  [[nodiscard]] unsigned relation(std::span<const std::uint64_t> values, std::uint32_t round, std::uint32_t lane,
                                  std::uint32_t part) const;

  const Setup& setup_;
  std::span<const ThreadArguments> arguments_;
  std::vector<Column> columns_;
};

}  // namespace softgpu::litmus
