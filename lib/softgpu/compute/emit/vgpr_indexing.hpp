// VGPR indexing: s_set_gpr_idx_on makes VALU instructions add M0 to register numbers, up to s_set_gpr_idx_off.
#pragma once

#include <optional>

namespace softgpu::compute {

struct VgprIndexing {
  enum Operands : unsigned { source0 = 1, source1 = 2, source2 = 4, destination = 8 };

  /// Which operands are indexed; nothing where indexing is off.
  std::optional<unsigned> operands;
  /// One more than the highest VGPR that the program has: an index may reach so far.
  unsigned limit = 0;

  [[nodiscard]] bool is_on() const { return operands.has_value(); }
  [[nodiscard]] bool indexes(Operands which) const { return (operands.value_or(0) & which) != 0; }
  [[nodiscard]] bool indexes_any() const { return operands.value_or(0) != 0; }
};

}  // namespace softgpu::compute
