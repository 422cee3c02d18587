#include "softgpu/compute/run_time/spread_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "softgpu/compute/run_time/wave_matrix_numbers.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

constexpr unsigned width = SpreadMatrix::size;

/// Where element `n` of a row or column is: the first of the 16 lanes that have its like, and its number in the lane.
struct ElementPlace {
  unsigned first_lane, number;

  ElementPlace(WaveMatrixType type, unsigned count, unsigned lanes, unsigned n) {
    const bool spans_four = SpreadMatrix::spans_four(type, count, lanes);
    if (bits_of(type) == 16) {
      const unsigned run = count / 4;
      const unsigned second = n / run / 2;  // half of the row
      first_lane = 16 * (n / run % 2) + (spans_four ? 32 * second : 0);
      number = n % run + (spans_four ? 0 : second * run);
      return;
    }
    const unsigned run = count / (spans_four ? 4 : 2);
    first_lane = spans_four ? 16 * (n / run / 2) + 32 * (n / run % 2) : 16 * (n / run);
    number = n % run;
  }
};

using RegisterRows = const std::uint32_t (*)[64];

/// The bits of each element of 16 rows of A, or columns of B.
template <unsigned Most>
using Elements = std::array<std::array<std::uint32_t, Most>, width>;
constexpr unsigned most_depth = 64;

void take(RegisterRows registers, WaveMatrixType type, unsigned count, unsigned lanes, Elements<most_depth>& elements) {
  const unsigned bits = bits_of(type);
  for (unsigned n = 0; n < count; ++n) {
    const ElementPlace place(type, count, lanes, n);
    const unsigned first_bit = place.number * bits;
    for (unsigned row = 0; row < width; ++row)
      elements[row][n] = registers[first_bit / 32][place.first_lane + row] >> (first_bit % 32) & ((1U << bits) - 1);
  }
}

/// A sparse A with its zeros.
void spread(const WaveState& state, const SpreadMatrix& matrix, unsigned lanes, unsigned first_index_bit,
            Elements<most_depth>& elements) {
  for (unsigned row = 0; row < width; ++row) {
    std::array<std::uint32_t, most_depth> whole = {};
    for (unsigned n = 0; n < matrix.a_count(); ++n) {
      const ElementPlace place(matrix.a, matrix.a_count(), lanes, n);
      const std::uint32_t indices = state.matrix_indices[place.first_lane + row] >> first_index_bit;
      whole[n / 2 * 4 + (indices >> (2 * place.number) & 3)] = elements[row][n];
    }
    elements[row] = whole;
  }
}

/// Where row i and column j of the sums are, of 32 or 16 bits.
struct SpreadSum {
  unsigned dword, lane, shift;

  SpreadSum(WaveMatrixType type, unsigned lanes, unsigned i, unsigned j) {
    const unsigned number = lanes == 64 ? i % 4 : i % 8;
    lane = 16 * (i / 8) + (lanes == 64 ? 32 * (i / 4 % 2) : 0) + j;
    const unsigned in_a_dword = 32 / bits_of(type);
    dword = number / in_a_dword;
    shift = number % in_a_dword * bits_of(type);
  }
};

std::uint32_t added(const SpreadMatrix& matrix, WaveMatrixOptions options, std::uint32_t sum_bits,
                    const std::array<std::uint32_t, most_depth>& a, const std::array<std::uint32_t, most_depth>& b) {
  if (matrix.sum == WaveMatrixType::i32) {
    std::int64_t sum = static_cast<std::int32_t>(sum_bits);
    for (unsigned k = 0; k < matrix.depth; ++k)
      sum += to_integer(a[k], bits_of(matrix.a), options.a_is_signed) *
             to_integer(b[k], bits_of(matrix.b), options.b_is_signed);
    using Int32 = std::numeric_limits<std::int32_t>;
    if (options.saturates) sum = std::clamp<std::int64_t>(sum, Int32::min(), Int32::max());
    return static_cast<std::uint32_t>(sum);
  }
  float sum = to_float(matrix.sum, sum_bits);
  for (unsigned k = 0; k < matrix.depth; ++k) sum = std::fma(to_float(matrix.a, a[k]), to_float(matrix.b, b[k]), sum);
  return from_float(matrix.sum, sum);
}

}  // namespace

void multiply_spread_matrices(WaveState* state, const SpreadMatrix* matrix, std::uint32_t lanes, std::uint32_t options,
                              std::uint32_t first_index_bit) {
  Elements<most_depth> a = {};
  Elements<most_depth> b = {};
  take(state->matrix_a, matrix->a, matrix->a_count(), lanes, a);
  take(state->matrix_b, matrix->b, matrix->b_count(), lanes, b);
  if (matrix->is_sparse) spread(*state, *matrix, lanes, first_index_bit, a);
  const std::uint32_t mask = bits_of(matrix->sum) == 16 ? 0xffff : ~0U;
  for (unsigned i = 0; i < width; ++i)
    for (unsigned j = 0; j < width; ++j) {
      const SpreadSum place(matrix->sum, lanes, i, j);
      std::uint32_t& held = state->matrix_sums[place.dword][place.lane];
      const std::uint32_t sum =
          added(*matrix, WaveMatrixOptions::decode(options), held >> place.shift & mask, a[i], b[j]);
      held = (held & ~(mask << place.shift)) | (sum & mask) << place.shift;
    }
}

}  // namespace softgpu::compute
