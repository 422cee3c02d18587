#include "softgpu/compute/run_time/wave_matrix.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "softgpu/compute/run_time/row_products.hpp"
#include "softgpu/compute/run_time/wave_matrix_numbers.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

constexpr unsigned extent = WaveMatrix::size;

/// Where row i of the sums is: side by side in a register.
struct WaveSumRow {
  unsigned dword, first_lane;

  WaveSumRow(unsigned lanes, unsigned i) : dword(i / (lanes / extent)), first_lane(i % (lanes / extent) * extent) {}
};

std::uint32_t element_bits(const std::uint32_t (*registers)[64], unsigned lane, unsigned k, unsigned bits) {
  return registers[k * bits / 32][lane] >> (k * bits % 32) & ((1U << bits) - 1);
}

void multiply_floats(WaveState& state, const WaveMatrix& matrix, unsigned lanes, WaveMatrixOptions options) {
  const unsigned bits = bits_of(matrix.source);
  std::array<float, extent * extent> a, b;  // for each k, the elements of A's rows or of B's columns side by side
  std::array<unsigned, extent> rows_of_b;
  std::iota(rows_of_b.begin(), rows_of_b.end(), 0U);
  for (unsigned k = 0; k < extent; ++k)
    for (unsigned i = 0; i < extent; ++i) {
      a[k * extent + i] = to_float(matrix.source, element_bits(state.matrix_a, i, k, bits));
      b[k * extent + i] = to_float(matrix.source, element_bits(state.matrix_b, i, k, bits));
    }
  const auto add = add_row_products<float>();
  for (unsigned i = 0; i < extent; ++i) {
    const WaveSumRow place(lanes, i);
    std::uint32_t* held = state.matrix_sums[place.dword] + place.first_lane;
    std::array<float, extent> row;
    for (unsigned j = 0; j < extent; ++j) row[j] = to_float(matrix.sum, options.upper_half ? held[j] >> 16 : held[j]);
    add(row.data(), &a[i], b.data(), rows_of_b, extent);
    for (unsigned j = 0; j < extent; ++j) held[j] = from_float(matrix.sum, row[j]);
  }
}

void multiply_integers(WaveState& state, const WaveMatrix& matrix, unsigned lanes, WaveMatrixOptions options) {
  const unsigned bits = bits_of(matrix.source);
  for (unsigned i = 0; i < extent; ++i)
    for (unsigned j = 0; j < extent; ++j) {
      const WaveSumRow place(lanes, i);
      std::uint32_t& held = state.matrix_sums[place.dword][place.first_lane + j];
      std::int64_t sum = static_cast<std::int32_t>(held);
      for (unsigned k = 0; k < extent; ++k)
        sum += to_integer(element_bits(state.matrix_a, i, k, bits), bits, options.a_is_signed) *
               to_integer(element_bits(state.matrix_b, j, k, bits), bits, options.b_is_signed);
      using Int32 = std::numeric_limits<std::int32_t>;
      if (options.saturates) sum = std::clamp<std::int64_t>(sum, Int32::min(), Int32::max());
      held = static_cast<std::uint32_t>(sum);
    }
}

}  // namespace

void multiply_wave_matrices(WaveState* state, const WaveMatrix* matrix, std::uint32_t lanes, std::uint32_t options) {
  const auto decoded = WaveMatrixOptions::decode(options);
  if (matrix->sum == WaveMatrixType::i32)
    multiply_integers(*state, *matrix, lanes, decoded);
  else
    multiply_floats(*state, *matrix, lanes, decoded);
}

}  // namespace softgpu::compute
