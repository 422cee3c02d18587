#include "softgpu/compute/run_time/matrix_product.hpp"

#include <array>
#include <bit>
#include <numeric>
#include <span>

#include "softgpu/compute/run_time/byte_float.hpp"
#include "softgpu/compute/run_time/matrix_elements.hpp"
#include "softgpu/compute/run_time/row_products.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using Registers = std::uint32_t (*)[64];

/// The largest block of A or B: for each k, the elements of A's rows or of B's columns side by side.
template <class T>
using Block = std::array<T, 2048>;

/// A NaN stays one. No manual at hand says how the GPU drops the bits: AMD's libraries test its products against inputs
/// that are cut off (Tensile's XFloat32).
float reduced_single(std::uint32_t bits) {
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  return std::bit_cast<float>((bits & 0xffffe000) | (is_nan ? 0x00400000 : 0));
}

/// Element `n` of a lane's registers of A or B, converted to the type of the sums.
template <class T, MatrixType type>
T element(Registers registers, unsigned lane, unsigned n, MatrixDenormals denormals) {
  const auto part = [&](unsigned bits) { return registers[n * bits / 32][lane] >> n * bits % 32; };
  if constexpr (type == MatrixType::f32) return std::bit_cast<float>(part(32));
  if constexpr (type == MatrixType::xf32) return reduced_single(part(32));
  if constexpr (type == MatrixType::f64)
    return std::bit_cast<double>(std::uint64_t{registers[2 * n + 1][lane]} << 32 | registers[2 * n][lane]);
  if constexpr (type == MatrixType::f16) return half(part(16) & 0xffff, denormals);
  if constexpr (type == MatrixType::bf16) return single(part(16) << 16, denormals);
  if constexpr (type == MatrixType::fp8) return numbers_of_codes<fp8_format>[part(8) & 0xff];
  if constexpr (type == MatrixType::bf8) return numbers_of_codes<bf8_format>[part(8) & 0xff];
  if constexpr (type == MatrixType::ocp_fp8) return numbers_of_codes<ocp_fp8_format>[part(8) & 0xff];
  if constexpr (type == MatrixType::ocp_bf8) return numbers_of_codes<ocp_bf8_format>[part(8) & 0xff];
  if constexpr (type == MatrixType::i8) return static_cast<T>(std::int32_t{static_cast<std::int8_t>(part(8))});
}

/// The lane that B's element for `lane` comes from.
unsigned pattern_lane(unsigned lane, unsigned blgp) {
  switch (blgp) {
  case 1:
  case 2:
    return lane % 32 + 32 * (blgp - 1);
  case 3:
    return (lane + 16) % 64;
  case 4:
  case 5:
  case 6:
  case 7:
    return lane % 16 + 16 * (blgp - 4);
  default:
    return lane;
  }
}

/// Fills `elements` from a block of A or B, of which each lane holds `per_lane` elements of one row or column.
template <class T, MatrixType type>
void load_block(Block<T>& elements, Registers registers, const MatrixProduct& product, unsigned block, unsigned depth,
                unsigned per_lane, unsigned blgp, MatrixDenormals denormals) {
  for (unsigned k = 0; k < depth; ++k) {
    const unsigned first_lane = product.size * (product.blocks * (k / per_lane) + block);
    for (unsigned i = 0; i < product.size; ++i)
      elements[k * product.size + i] =
          element<T, type>(registers, pattern_lane(first_lane + i, blgp), k % per_lane, denormals);
  }
}

/// Where row `i` of a block of sums is: side by side in a register. A register holds groups of rows: of 4, or of 1 for
/// doubles.
struct SumRow {
  unsigned element, first_lane;

  SumRow(const MatrixProduct& product, unsigned block, unsigned i) {
    const unsigned height = product.type == MatrixType::f64 ? 1 : 4;
    const unsigned groups = 64 / product.size;
    const unsigned block_groups = product.size / height;
    const unsigned blocks = block_groups < groups ? groups / block_groups : 1;  // side by side in a register
    element = block * (product.size * product.size / 64) + i / (height * groups) * height + i % height;
    first_lane = (block % blocks + i / height % groups * blocks) * product.size;
  }
};

template <class T, MatrixType type>
T load_sum(Registers sums, unsigned number, unsigned lane, MatrixDenormals denormals) {
  if constexpr (type == MatrixType::f64) {
    return element<T, type>(sums, lane, number, denormals);
  } else if constexpr (type == MatrixType::f16 || type == MatrixType::bf16) {
    return single(sums[number][lane], denormals);
  } else {
    return std::bit_cast<T>(sums[number][lane]);
  }
}

template <class T, MatrixType type>
void store_sum(Registers sums, unsigned number, unsigned lane, T sum, MatrixDenormals denormals) {
  if constexpr (type == MatrixType::f64) {
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    sums[2 * number][lane] = static_cast<std::uint32_t>(bits);
    sums[2 * number + 1][lane] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    auto bits = std::bit_cast<std::uint32_t>(sum);
    if (type == MatrixType::f16 || type == MatrixType::bf16)
      bits = std::bit_cast<std::uint32_t>(single(bits, denormals));
    sums[number][lane] = bits;
  }
}

/// Which four rows of B meet the elements 2n and 2n + 1 of a sparse A's row. In CDNA4's halves the lanes of A's first
/// half hold the first half of its elements; each lane of B holds some rows for either half, as AMD's floating-point
/// sanitizer found on an MI350 (fpsan, amdgcn_smfmac.hpp).
unsigned quad_of_b(const MatrixProduct& product, unsigned n) {
  if (product.form == MatrixForm::sparse) return n;
  const unsigned quads_of_half = product.depth / 4 / 2;
  const unsigned quads_per_lane = product.elements_per_lane() / 4;
  const unsigned half = n / quads_of_half;
  const unsigned in_half = n % quads_of_half;
  const unsigned per_lane = quads_per_lane / 2;
  return in_half / per_lane * quads_per_lane + half * per_lane + in_half % per_lane;
}

/// Of each element of a sparse A's row, which row of B it is multiplied with: two of each four.
void find_rows_of_b(std::span<unsigned> rows, const WaveState& state, const MatrixProduct& product, unsigned i,
                    unsigned set) {
  const unsigned per_lane = product.stored_elements_per_lane();
  for (unsigned n = 0; n < rows.size(); ++n) {
    const unsigned lane = product.size * (n / per_lane) + i;
    const unsigned index = state.matrix_indices[lane] >> (2 * (set * per_lane + n % per_lane)) & 3;
    rows[n] = quad_of_b(product, n / 2) * 4 + index;
  }
}

template <class T, MatrixType type, MatrixType type_b>
void multiply(WaveState& state, const MatrixProduct& product, MatrixDenormals denormals, unsigned cbsz, unsigned abid,
              unsigned blgp) {
  const auto add = add_row_products<T>();
  const bool is_sparse = product.is_sparse();
  const unsigned stored_per_lane = product.stored_elements_per_lane();
  const unsigned stored_depth = is_sparse ? product.depth / 2 : product.depth;
  const unsigned set = is_sparse && cbsz == 0 ? abid % (16 / stored_per_lane) : 0;  // of the indices in 32 bits
  std::array<unsigned, 64> every_row;
  const std::span rows_of_b = std::span(every_row).first(stored_depth);
  std::iota(rows_of_b.begin(), rows_of_b.end(), 0U);
  for (unsigned block = 0; block < product.blocks; ++block) {
    const unsigned group = is_sparse ? 1 : 1U << cbsz;
    const unsigned a_block = (block & ~(group - 1)) + (abid & (group - 1));
    Block<T> a;
    Block<T> b;
    load_block<T, type>(a, state.matrix_a, product, a_block, stored_depth, stored_per_lane, 0, denormals);
    load_block<T, type_b>(b, state.matrix_b, product, block, product.depth, product.elements_per_lane(), blgp,
                          denormals);
    for (unsigned i = 0; i < product.size; ++i) {
      if (is_sparse) find_rows_of_b(rows_of_b, state, product, i, set);
      const SumRow place(product, block, i);
      std::array<T, 32> row;
      for (unsigned j = 0; j < product.size; ++j)
        row[j] = load_sum<T, type>(state.matrix_sums, place.element, place.first_lane + j, denormals);
      add(row.data(), &a[i], b.data(), rows_of_b, product.size);
      for (unsigned j = 0; j < product.size; ++j)
        store_sum<T, type>(state.matrix_sums, place.element, place.first_lane + j, row[j], denormals);
    }
  }
}

using Multiply = void (*)(WaveState&, const MatrixProduct&, MatrixDenormals, unsigned, unsigned, unsigned);

Multiply function_for(MatrixType a, MatrixType b) {
  using enum MatrixType;
  switch (a) {
  case f32:
    return multiply<float, f32, f32>;
  case xf32:
    return multiply<float, xf32, xf32>;
  case f64:
    return multiply<double, f64, f64>;
  case f16:
    return multiply<float, f16, f16>;
  case bf16:
    return multiply<float, bf16, bf16>;
  case i8:
    return multiply<std::uint32_t, i8, i8>;
  case fp8:
    return b == fp8 ? multiply<float, fp8, fp8> : multiply<float, fp8, bf8>;
  case bf8:
    return b == fp8 ? multiply<float, bf8, fp8> : multiply<float, bf8, bf8>;
  case ocp_fp8:
    return b == ocp_fp8 ? multiply<float, ocp_fp8, ocp_fp8> : multiply<float, ocp_fp8, ocp_bf8>;
  case ocp_bf8:
    break;
  }
  return b == ocp_fp8 ? multiply<float, ocp_bf8, ocp_fp8> : multiply<float, ocp_bf8, ocp_bf8>;
}

MatrixType type_of(MatrixType named, MatrixByteFloats byte_floats) {
  if (byte_floats == MatrixByteFloats::fnuz) return named;
  if (named == MatrixType::fp8) return MatrixType::ocp_fp8;
  return named == MatrixType::bf8 ? MatrixType::ocp_bf8 : named;
}

}  // namespace

void multiply_matrices(WaveState* state, const MatrixProduct* product, MatrixDenormals denormals,
                       MatrixByteFloats byte_floats, std::uint32_t cbsz, std::uint32_t abid, std::uint32_t blgp) {
  const auto multiply = function_for(type_of(product->type, byte_floats), type_of(product->type_b, byte_floats));
  multiply(*state, *product, denormals, cbsz, abid, blgp);
}

}  // namespace softgpu::compute
