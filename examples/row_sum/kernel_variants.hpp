// The host's loops, every kernel with the matrix in the GPU's memory, and a plain read of that memory.
#pragma once

#include "problem.hpp"
#include "variant.hpp"

#include <fastdispatch/fastdispatch.hpp>

#include <cstddef>
#include <vector>

/// The loop over all cores of the host, of kernel_variants.
inline constexpr std::size_t all_cores = 1;

/// `problem` must outlive it.
[[nodiscard]] Variant wavefront_a_row(Problem& problem, fastdispatch::Fences fences);

/// All of them. `problem` must outlive them.
[[nodiscard]] std::vector<Variant> kernel_variants(Problem& problem, fastdispatch::Fences fences);
