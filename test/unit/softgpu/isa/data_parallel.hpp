// DPP: the first source comes from another lane of the wavefront.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace softgpu::isa {

struct DppControl {
  std::string text;
  std::function<std::optional<unsigned>(unsigned lane)> source_lane;  ///< nothing where it is out of bounds
};

struct Dpp {
  DppControl control;
  unsigned row_mask = 0xf;     ///< bit r enables lanes 16r to 16r+15
  unsigned bank_mask = 0xf;    ///< bit b enables lanes whose number within the row is 4b to 4b+3
  bool bound_control = false;  ///< an invalid source reads as zero instead of disabling the lane

  [[nodiscard]] bool enables(unsigned lane) const {
    return (row_mask >> lane / 16 & 1) != 0 && (bank_mask >> lane % 16 / 4 & 1) != 0;
  }
  [[nodiscard]] std::string text() const;
};

[[nodiscard]] DppControl quad_perm(std::array<unsigned, 4> lanes);
[[nodiscard]] DppControl row_shl(unsigned count);
[[nodiscard]] DppControl row_shr(unsigned count);
[[nodiscard]] DppControl row_ror(unsigned count);
[[nodiscard]] DppControl row_newbcast(unsigned lane);

/// Every control, counts and lanes by a few examples.
[[nodiscard]] const std::vector<DppControl>& dpp_controls();

}  // namespace softgpu::isa
