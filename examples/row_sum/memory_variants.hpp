// The best kernel, a wavefront a row, with the matrix in each kind of memory, and plain reads of these.
#pragma once

#include "problem.hpp"
#include "variant.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <vector>

/// The matrix in memory as programs have it: without a lock, and with a lock that lasts.
struct PageableMatrices {
  explicit PageableMatrices(Problem& problem);

  std::vector<float> unlocked;
  std::vector<float> locked;
  fastdispatch::Pin lock;
};

/// `problem` and `matrices` must outlive them.
[[nodiscard]] std::vector<Variant> memory_variants(Problem& problem, PageableMatrices& matrices,
                                                   fastdispatch::Fences fences);
