#include "softgpu/compute/run_time/row_products.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace softgpu::compute {
namespace {

/// With a constant size, the row stays in the CPU's registers.
template <unsigned size, class T>
[[gnu::always_inline]] inline void add_row(T* sums, const T* a, const T* b, std::span<const unsigned> rows_of_b) {
  std::array<T, size> row;
  for (unsigned j = 0; j < size; ++j) row[j] = sums[j];
  for (std::size_t n = 0; n < rows_of_b.size(); ++n) {
    const T factor = a[n * size];
    const T* row_of_b = b + std::size_t{rows_of_b[n]} * size;
    for (unsigned j = 0; j < size; ++j) {
      if constexpr (std::is_integral_v<T>)
        row[j] += factor * row_of_b[j];
      else
        row[j] = std::fma(factor, row_of_b[j], row[j]);
    }
  }
  for (unsigned j = 0; j < size; ++j) sums[j] = row[j];
}

template <class T>
[[gnu::always_inline]] inline void add_row_of(T* sums, const T* a, const T* b, std::span<const unsigned> rows_of_b,
                                              unsigned size) {
  switch (size) {
  case 4:
    return add_row<4>(sums, a, b, rows_of_b);
  case 16:
    return add_row<16>(sums, a, b, rows_of_b);
  default:
    return add_row<32>(sums, a, b, rows_of_b);
  }
}

template <class T>
void add_anywhere(T* sums, const T* a, const T* b, std::span<const unsigned> rows_of_b, unsigned size) {
  add_row_of(sums, a, b, rows_of_b, size);
}
#ifdef __x86_64__
template <class T>
[[gnu::target("avx2,fma")]] void add_with_avx2(T* sums, const T* a, const T* b, std::span<const unsigned> rows_of_b,
                                               unsigned size) {
  add_row_of(sums, a, b, rows_of_b, size);
}
template <class T>
[[gnu::target("avx512f,avx2,fma")]] void add_with_avx512(T* sums, const T* a, const T* b,
                                                         std::span<const unsigned> rows_of_b, unsigned size) {
  add_row_of(sums, a, b, rows_of_b, size);
}
#endif

}  // namespace

/// If the host lacks the fused multiply-add, it is a function call.
template <class T>
AddRowProducts<T> add_row_products() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) return add_with_avx512<T>;
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return add_with_avx2<T>;
#endif
  return add_anywhere<T>;
}

template AddRowProducts<float> add_row_products();
template AddRowProducts<double> add_row_products();
template AddRowProducts<std::uint32_t> add_row_products();

}  // namespace softgpu::compute
