// The product on the host, which kernels are measured against.
#pragma once

#include "exact_product.hpp"

#include <cstddef>
#include <span>

/// Rows [first, last) of C = A B. Walks along rows of B: each row of A loads all of B.
void multiply_rows(const Shape& shape, std::span<const float> a, std::span<const float> b, std::span<float> c,
                   std::size_t first, std::size_t last);

/// The same in tiles of B that stay in a core's caches while all of the rows use them.
void multiply_tiles(const Shape& shape, std::span<const float> a, std::span<const float> b, std::span<float> c,
                    std::size_t first, std::size_t last);
