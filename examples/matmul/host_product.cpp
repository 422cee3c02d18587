#include "host_product.hpp"

#include <algorithm>

namespace {

constexpr std::size_t tile_rows = 64;
constexpr std::size_t tile_columns = 512;  // 128 KiB of B with the rows

// c += factor * b
void add_multiple(std::span<float> c, float factor, std::span<const float> b) {
  for (std::size_t i = 0; i < c.size(); ++i) c[i] += factor * b[i];
}

void clear_rows(const Shape& shape, std::span<float> c, std::size_t first, std::size_t last) {
  std::ranges::fill(c.subspan(first * shape.columns, (last - first) * shape.columns), 0.0F);
}

}  // namespace

void multiply_rows(const Shape& shape, std::span<const float> a, std::span<const float> b, std::span<float> c,
                   std::size_t first, std::size_t last) {
  clear_rows(shape, c, first, last);
  for (std::size_t row = first; row < last; ++row)
    for (std::size_t k = 0; k < shape.inner; ++k)
      add_multiple(c.subspan(row * shape.columns, shape.columns), a[row * shape.inner + k],
                   b.subspan(k * shape.columns, shape.columns));
}

void multiply_tiles(const Shape& shape, std::span<const float> a, std::span<const float> b, std::span<float> c,
                    std::size_t first, std::size_t last) {
  clear_rows(shape, c, first, last);
  for (std::size_t k0 = 0; k0 < shape.inner; k0 += tile_rows) {
    const std::size_t k_end = std::min<std::size_t>(k0 + tile_rows, shape.inner);
    for (std::size_t j0 = 0; j0 < shape.columns; j0 += tile_columns) {
      const std::size_t width = std::min<std::size_t>(tile_columns, shape.columns - j0);
      for (std::size_t row = first; row < last; ++row)
        for (std::size_t k = k0; k < k_end; ++k)
          add_multiple(c.subspan(row * shape.columns + j0, width), a[row * shape.inner + k],
                       b.subspan(k * shape.columns + j0, width));
    }
  }
}
