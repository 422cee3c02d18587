#include "softgpu/compute/run_time/wave_matrix.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "softgpu/compute/run_time/wave_matrix_numbers.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

constexpr unsigned extent = WaveMatrix::size;

/// Where row i and column j of the sums is.
struct SumPlace {
  unsigned dword, lane;

  SumPlace(unsigned lanes, unsigned i, unsigned j)
      : dword(i / (lanes / extent)), lane(i % (lanes / extent) * extent + j) {}
};

std::uint32_t element_bits(const std::uint32_t (*registers)[64], unsigned lane, unsigned k, unsigned bits) {
  return registers[k * bits / 32][lane] >> (k * bits % 32) & ((1U << bits) - 1);
}

using Rows = std::array<std::array<float, extent>, extent>;

void multiply_floats(WaveState& state, const WaveMatrix& matrix, unsigned lanes, WaveMatrixOptions options) {
  const unsigned bits = bits_of(matrix.source);
  Rows a;  // by row
  Rows b;  // by column
  for (unsigned i = 0; i < extent; ++i)
    for (unsigned k = 0; k < extent; ++k) {
      a[i][k] = to_float(matrix.source, element_bits(state.matrix_a, i, k, bits));
      b[i][k] = to_float(matrix.source, element_bits(state.matrix_b, i, k, bits));
    }
  for (unsigned i = 0; i < extent; ++i)
    for (unsigned j = 0; j < extent; ++j) {
      const SumPlace place(lanes, i, j);
      std::uint32_t& held = state.matrix_sums[place.dword][place.lane];
      float sum = to_float(matrix.sum, options.upper_half ? held >> 16 : held);
      for (unsigned k = 0; k < extent; ++k) sum = std::fma(a[i][k], b[j][k], sum);
      held = from_float(matrix.sum, sum);
    }
}

void multiply_integers(WaveState& state, const WaveMatrix& matrix, unsigned lanes, WaveMatrixOptions options) {
  const unsigned bits = bits_of(matrix.source);
  for (unsigned i = 0; i < extent; ++i)
    for (unsigned j = 0; j < extent; ++j) {
      const SumPlace place(lanes, i, j);
      std::uint32_t& held = state.matrix_sums[place.dword][place.lane];
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
