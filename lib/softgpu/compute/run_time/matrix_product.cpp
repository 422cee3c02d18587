#include "softgpu/compute/run_time/matrix_product.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "softgpu/compute/run_time/byte_float.hpp"
#include "softgpu/compute/run_time/matrix_elements.hpp"
#include "softgpu/compute/run_time/wave_state.hpp"

namespace softgpu::compute {
namespace {

using Registers = std::uint32_t (*)[64];

/// The largest block of A or B.
template <class T>
using Block = std::array<T, 1024>;

/// Element `n` of a lane's registers of A or B, converted to the type of the sums.
template <class T, MatrixType type>
T element(Registers registers, unsigned lane, unsigned n, MatrixDenormals denormals) {
  const auto part = [&](unsigned bits) { return registers[n * bits / 32][lane] >> n * bits % 32; };
  if constexpr (type == MatrixType::f32) return std::bit_cast<float>(part(32));
  if constexpr (type == MatrixType::f64)
    return std::bit_cast<double>(std::uint64_t{registers[2 * n + 1][lane]} << 32 | registers[2 * n][lane]);
  if constexpr (type == MatrixType::f16) return half(part(16) & 0xffff, denormals);
  if constexpr (type == MatrixType::bf16) return single(part(16) << 16, denormals);
  if constexpr (type == MatrixType::fp8) return fp8_format.widen(part(8));
  if constexpr (type == MatrixType::bf8) return bf8_format.widen(part(8));
  if constexpr (type == MatrixType::ocp_fp8) return ocp_fp8_format.widen(part(8));
  if constexpr (type == MatrixType::ocp_bf8) return ocp_bf8_format.widen(part(8));
  if constexpr (type == MatrixType::i8) return static_cast<T>(std::int32_t{static_cast<std::int8_t>(part(8))});
}

/// sums[j] += a[k] * b[k][j], in the order of k.
template <class T>
[[gnu::always_inline]] inline void add_products(T* sums, const T* a, const T* b, unsigned depth, unsigned size) {
  for (unsigned k = 0; k < depth; ++k)
    for (unsigned j = 0; j < size; ++j) {
      if constexpr (std::is_integral_v<T>)
        sums[j] += a[k] * b[k * size + j];
      else
        sums[j] = std::fma(a[k], b[k * size + j], sums[j]);
    }
}
template <class T>
void add_row(T* sums, const T* a, const T* b, unsigned depth, unsigned size) {
  add_products(sums, a, b, depth, size);
}
#ifdef __x86_64__
template <class T>
[[gnu::target("avx2,fma")]] void add_row_with_fma(T* sums, const T* a, const T* b, unsigned depth, unsigned size) {
  add_products(sums, a, b, depth, size);
}
#endif

/// If the host lacks the fused multiply-add, it is a function call.
template <class T>
auto row_function() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2")) return add_row_with_fma<T>;
#endif
  return add_row<T>;
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

/// Where row `i` and column `j` of a block of sums is. A register holds groups of rows: of 4, or of 1 for doubles.
struct Place {
  unsigned element, lane;

  Place(const MatrixProduct& product, unsigned block, unsigned i, unsigned j) {
    const unsigned height = product.type == MatrixType::f64 ? 1 : 4;
    const unsigned groups = 64 / product.size;
    const unsigned block_groups = product.size / height;
    const unsigned blocks = block_groups < groups ? groups / block_groups : 1;  // side by side in a register
    element = block * (product.size * product.size / 64) + i / (height * groups) * height + i % height;
    lane = (block % blocks + i / height % groups * blocks) * product.size + j;
  }
};

template <class T, MatrixType type>
T load_sum(Registers sums, const Place& place, MatrixDenormals denormals) {
  if constexpr (type == MatrixType::f64) {
    return element<T, type>(sums, place.lane, place.element, denormals);
  } else if constexpr (type == MatrixType::f16 || type == MatrixType::bf16) {
    return single(sums[place.element][place.lane], denormals);
  } else {
    return std::bit_cast<T>(sums[place.element][place.lane]);
  }
}

template <class T, MatrixType type>
void store_sum(Registers sums, const Place& place, T sum, MatrixDenormals denormals) {
  if constexpr (type == MatrixType::f64) {
    const auto bits = std::bit_cast<std::uint64_t>(sum);
    sums[2 * place.element][place.lane] = static_cast<std::uint32_t>(bits);
    sums[2 * place.element + 1][place.lane] = static_cast<std::uint32_t>(bits >> 32);
  } else {
    auto bits = std::bit_cast<std::uint32_t>(sum);
    if (type == MatrixType::f16 || type == MatrixType::bf16)
      bits = std::bit_cast<std::uint32_t>(single(bits, denormals));
    sums[place.element][place.lane] = bits;
  }
}

/// The products of two of each four elements of B's columns with what a lane stores of A's row `i`.
template <class T>
void add_sparse_row(T* sums, const WaveState& state, const MatrixProduct& product, const Block<T>& stored,
                    const Block<T>& b, unsigned i, unsigned set) {
  const auto add = row_function<T>();
  const unsigned per_lane = product.stored_elements_per_lane();
  const unsigned elements = product.depth / 2;
  for (unsigned n = 0; n < elements; ++n) {
    const unsigned lane = product.size * (n / per_lane) + i;
    const unsigned index = state.matrix_indices[lane] >> (2 * (set * per_lane + n % per_lane)) & 3;
    const unsigned k = n / 2 * 4 + index;
    add(sums, &stored[i * elements + n], &b[k * product.size], 1, product.size);
  }
}

template <class T, MatrixType type, MatrixType type_b>
void multiply(WaveState& state, const MatrixProduct& product, MatrixDenormals denormals, unsigned cbsz, unsigned abid,
              unsigned blgp) {
  const auto add = row_function<T>();
  const bool is_sparse = product.form == MatrixForm::sparse;
  const auto [size, depth, blocks] = std::tuple(product.size, product.depth, product.blocks);
  const unsigned per_lane = product.elements_per_lane();
  const unsigned stored_per_lane = product.stored_elements_per_lane();
  const unsigned stored_depth = is_sparse ? depth / 2 : depth;
  const unsigned index_sets = 16 / stored_per_lane;  // in 32 bits
  for (unsigned block = 0; block < blocks; ++block) {
    const unsigned group = is_sparse ? 1 : 1U << cbsz;
    const unsigned a_block = (block & ~(group - 1)) + (abid & (group - 1));
    Block<T> a;
    Block<T> b;
    for (unsigned k = 0; k < stored_depth; ++k) {
      const unsigned lanes = size * blocks * (k / stored_per_lane);
      for (unsigned i = 0; i < size; ++i)
        a[i * stored_depth + k] =
            element<T, type>(state.matrix_a, lanes + size * a_block + i, k % stored_per_lane, denormals);
    }
    for (unsigned k = 0; k < depth; ++k) {
      const unsigned lanes = size * blocks * (k / per_lane);
      for (unsigned i = 0; i < size; ++i)
        b[k * size + i] =
            element<T, type_b>(state.matrix_b, pattern_lane(lanes + size * block + i, blgp), k % per_lane, denormals);
    }
    for (unsigned i = 0; i < size; ++i) {
      std::array<T, 32> row;
      for (unsigned j = 0; j < size; ++j)
        row[j] = load_sum<T, type>(state.matrix_sums, Place(product, block, i, j), denormals);
      if (is_sparse)
        add_sparse_row(row.data(), state, product, a, b, i, cbsz == 0 ? abid % index_sets : 0);
      else
        add(row.data(), &a[i * depth], b.data(), depth, size);
      for (unsigned j = 0; j < size; ++j)
        store_sum<T, type>(state.matrix_sums, Place(product, block, i, j), row[j], denormals);
    }
  }
}

using Multiply = void (*)(WaveState&, const MatrixProduct&, MatrixDenormals, unsigned, unsigned, unsigned);

Multiply function_for(MatrixType a, MatrixType b) {
  using enum MatrixType;
  switch (a) {
  case f32:
    return multiply<float, f32, f32>;
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
