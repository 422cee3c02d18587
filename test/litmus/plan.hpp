// Which litmus tests are made: a table of products of tests, accesses, scopes and sides.
#pragma once

#include <vector>

#include "setup.hpp"

namespace softgpu::litmus {

enum class Extent : std::uint8_t {
  brief,  ///< one product of each kind: some seconds
  whole,
};

/// Meaningless products are left out: a scope that does not reach the other side, LDS of another work-group.
[[nodiscard]] std::vector<Setup> plan(Extent extent);

}  // namespace softgpu::litmus
