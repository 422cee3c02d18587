#include "softgpu/compute/run_time/scaled_product.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "softgpu/compute/run_time/byte_float.hpp"
#include "softgpu/compute/run_time/versions_by_cpu.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using Registers = std::uint32_t (*)[64];

constexpr unsigned per_lane = 32;
constexpr unsigned per_scale = 32;
constexpr unsigned most_elements = 16 * 128;  ///< and 32 * 64

/// The numbers of all codes of a type.
constexpr auto numbers = [] {
  constexpr ByteFloat formats[] = {ocp_fp8_format, ocp_bf8_format, ocp_fp6_format, ocp_bf6_format, ocp_fp4_format};
  std::array<std::array<float, 256>, narrow_types> result{};
  for (unsigned type = 0; type < narrow_types; ++type)
    for (std::uint32_t code = 0; code < 256; ++code) result[type][code] = formats[type].widen(code);
  return result;
}();

std::uint32_t element(Registers registers, unsigned lane, unsigned n, unsigned bits) {
  const unsigned dword = n * bits / 32;
  std::uint64_t held = registers[dword][lane];
  if (n * bits % 32 + bits > 32) held |= std::uint64_t{registers[dword + 1][lane]} << 32;
  return static_cast<std::uint32_t>(held >> n * bits % 32) & ((1U << bits) - 1);
}

/// Where in the direction of K a lane's element is. Elements of 8 bits are in two parts, half of K away from each
/// other.
unsigned place_in_depth(const ScaledProduct& product, unsigned group, unsigned n, unsigned bits) {
  constexpr unsigned part = per_lane / 2;
  return bits == 8 ? n / part * (product.depth / 2) + group * part + n % part : group * per_lane + n;
}

/// Calls take(i, k, number) for each element: of row i of A, or column i of B.
template <class Take>
void for_each_element(Registers registers, const ScaledProduct& product, NarrowType type, Take&& take) {
  const unsigned bits = bits_of(type);
  for (unsigned lane = 0; lane < 64; ++lane)
    for (unsigned n = 0; n < per_lane; ++n)
      take(lane % product.size, place_in_depth(product, lane / product.size, n, bits),
           numbers[static_cast<unsigned>(type)][element(registers, lane, n, bits)]);
}

/// An exponent with a bias of 127; 255 is NaN.
double scale(const std::uint32_t (&lanes)[64], const ScaledProduct& product, unsigned i, unsigned block,
             unsigned byte) {
  if (!product.has_scales) return 1;
  const std::uint32_t exponent = lanes[i + product.size * block] >> 8 * byte & 0xff;
  return exponent == 0xff ? std::numeric_limits<double>::quiet_NaN()
                          : std::ldexp(1.0, static_cast<int>(exponent) - 127);
}

/// Where row `i` of D is: side by side in a register.
std::uint32_t* row_of_sums(Registers sums, const ScaledProduct& product, unsigned i) {
  const unsigned groups = 64 / product.size;  // of 4 rows in a register
  return &sums[i / (4 * groups) * 4 + i % 4][i / 4 % groups * product.size];
}

/// row[j] += a[k] * b[k * size + j] for each k in turn. The products of such numbers are exact.
SOFTGPU_VERSIONS_BY_CPU void add_exact_products(double* row, const float* a, const float* b, unsigned count,
                                                unsigned size) {
  for (unsigned k = 0; k < count; ++k)
    for (unsigned j = 0; j < size; ++j) row[j] += double{a[k]} * b[k * size + j];
}

}  // namespace

void multiply_scaled_matrices(WaveState* state, const ScaledProduct* product, NarrowType type_a, NarrowType type_b,
                              std::uint8_t a_byte, std::uint8_t b_byte) {
  const unsigned size = product->size;
  const unsigned depth = product->depth;
  std::array<float, most_elements> a;
  std::array<float, most_elements> b;
  for_each_element(state->matrix_a, *product, type_a,
                   [&](unsigned i, unsigned k, float number) { a[i * depth + k] = number; });
  for_each_element(state->matrix_b, *product, type_b,
                   [&](unsigned j, unsigned k, float number) { b[k * size + j] = number; });
  const unsigned blocks = depth / per_scale;
  std::array<double, 128> b_scales;  // of a block's columns, block after block
  for (unsigned block = 0; block < blocks; ++block)
    for (unsigned j = 0; j < size; ++j)
      b_scales[block * size + j] = scale(state->matrix_scales[1], *product, j, block, b_byte);
  for (unsigned i = 0; i < size; ++i)
    for (unsigned block = 0; block < blocks; ++block) {
      std::array<double, 32> row{};
      const unsigned first = block * per_scale;
      add_exact_products(row.data(), &a[i * depth + first], &b[first * size], per_scale, size);
      const double a_scale = scale(state->matrix_scales[0], *product, i, block, a_byte);
      std::uint32_t* sums = row_of_sums(state->matrix_sums, *product, i);
      for (unsigned j = 0; j < size; ++j) {
        const double sum = std::bit_cast<float>(sums[j]) + row[j] * a_scale * b_scales[block * size + j];
        sums[j] = std::bit_cast<std::uint32_t>(static_cast<float>(sum));
      }
    }
}

}  // namespace softgpu::compute
