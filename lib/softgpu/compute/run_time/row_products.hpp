// Products of matrices on the host, a row of sums at a time.
#pragma once

#include <span>

namespace softgpu::compute {

/// For each j below `size`: sums[j] += a[n * size] * b[rows_of_b[n] * size + j] for each n in turn, with one rounding
/// each. `size` is 4, 16 or 32. So a column of `a` and each row of `b` have `size` elements side by side.
template <class T>
using AddRowProducts = void (*)(T* sums, const T* a, const T* b, std::span<const unsigned> rows_of_b, unsigned size);

/// The function for this CPU; T is float, double or std::uint32_t.
template <class T>
[[nodiscard]] AddRowProducts<T> add_row_products();

}  // namespace softgpu::compute
