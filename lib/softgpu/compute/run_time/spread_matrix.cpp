#include "softgpu/compute/run_time/spread_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "softgpu/compute/run_time/row_products.hpp"
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

/// Where row i of the sums is, of 32 or 16 bits: side by side in the lanes.
struct SpreadSumRow {
  unsigned dword, first_lane, shift;

  SpreadSumRow(WaveMatrixType type, unsigned lanes, unsigned i) {
    const unsigned number = lanes == 64 ? i % 4 : i % 8;
    first_lane = 16 * (i / 8) + (lanes == 64 ? 32 * (i / 4 % 2) : 0);
    const unsigned in_a_dword = 32 / bits_of(type);
    dword = number / in_a_dword;
    shift = number % in_a_dword * bits_of(type);
  }
};

using Row = std::array<std::uint32_t, width>;

/// For each k, the numbers of 16 rows side by side.
std::array<float, most_depth * width> numbers_of(const Elements<most_depth>& elements, WaveMatrixType type,
                                                 unsigned depth) {
  std::array<float, most_depth * width> result;
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned row = 0; row < width; ++row) result[k * width + row] = to_float(type, elements[row][k]);
  return result;
}

class FloatProducts {
public:
  FloatProducts(const SpreadMatrix& matrix, const Elements<most_depth>& a, const Elements<most_depth>& b)
      : matrix_(matrix), a_(numbers_of(a, matrix.a, matrix.depth)), b_(numbers_of(b, matrix.b, matrix.depth)) {
    std::iota(rows_of_b_.begin(), rows_of_b_.end(), 0U);
  }

  void add(Row& sums, unsigned i) const {
    std::array<float, width> row;
    for (unsigned j = 0; j < width; ++j) row[j] = to_float(matrix_.sum, sums[j]);
    add_(row.data(), &a_[i], b_.data(), std::span(rows_of_b_).first(matrix_.depth), width);
    for (unsigned j = 0; j < width; ++j) sums[j] = from_float(matrix_.sum, row[j]);
  }

private:
  const SpreadMatrix& matrix_;
  std::array<float, most_depth * width> a_, b_;
  std::array<unsigned, most_depth> rows_of_b_;
  AddRowProducts<float> add_ = add_row_products<float>();
};

void add_integers(Row& sums, const SpreadMatrix& matrix, WaveMatrixOptions options,
                  const std::array<std::uint32_t, most_depth>& row_of_a, const Elements<most_depth>& b) {
  for (unsigned j = 0; j < width; ++j) {
    std::int64_t sum = static_cast<std::int32_t>(sums[j]);
    for (unsigned k = 0; k < matrix.depth; ++k)
      sum += to_integer(row_of_a[k], bits_of(matrix.a), options.a_is_signed) *
             to_integer(b[j][k], bits_of(matrix.b), options.b_is_signed);
    using Int32 = std::numeric_limits<std::int32_t>;
    if (options.saturates) sum = std::clamp<std::int64_t>(sum, Int32::min(), Int32::max());
    sums[j] = static_cast<std::uint32_t>(sum);
  }
}

/// Calls `add(sums, i)` for each row i of the sums.
template <class Add>
void for_each_row(WaveState& state, const SpreadMatrix& matrix, unsigned lanes, Add&& add) {
  const std::uint32_t mask = bits_of(matrix.sum) == 16 ? 0xffff : ~0U;
  for (unsigned i = 0; i < width; ++i) {
    const SpreadSumRow place(matrix.sum, lanes, i);
    std::uint32_t* held = state.matrix_sums[place.dword] + place.first_lane;
    Row sums;
    for (unsigned j = 0; j < width; ++j) sums[j] = held[j] >> place.shift & mask;
    add(sums, i);
    for (unsigned j = 0; j < width; ++j) held[j] = (held[j] & ~(mask << place.shift)) | (sums[j] & mask) << place.shift;
  }
}

}  // namespace

void multiply_spread_matrices(WaveState* state, const SpreadMatrix* matrix, std::uint32_t lanes, std::uint32_t options,
                              std::uint32_t first_index_bit) {
  Elements<most_depth> a = {};
  Elements<most_depth> b = {};
  take(state->matrix_a, matrix->a, matrix->a_count(), lanes, a);
  take(state->matrix_b, matrix->b, matrix->b_count(), lanes, b);
  if (matrix->is_sparse) spread(*state, *matrix, lanes, first_index_bit, a);
  if (matrix->sum == WaveMatrixType::i32) {
    const auto decoded = WaveMatrixOptions::decode(options);
    for_each_row(*state, *matrix, lanes, [&](Row& sums, unsigned i) { add_integers(sums, *matrix, decoded, a[i], b); });
    return;
  }
  const FloatProducts products(*matrix, a, b);
  for_each_row(*state, *matrix, lanes, [&](Row& sums, unsigned i) { products.add(sums, i); });
}

}  // namespace softgpu::compute
