#include "softgpu/compute/run_time/trigonometric_reduction.hpp"

#include <array>
#include <bit>
#include <cmath>

namespace softgpu::compute {
namespace {

/// The first 1216 binary digits of 2/pi behind the point.
constexpr std::array<std::uint64_t, 19> two_over_pi = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};

/// 53 digits from digit `first` on; beyond the 1201 that the hardware has, zeros.
std::uint64_t digits(unsigned first) {
  constexpr unsigned digit_count = 1201;
  constexpr unsigned window = 53;
  std::uint64_t result = 0;
  for (unsigned i = first; i < first + window; ++i) {
    const bool digit = i < digit_count && ((two_over_pi.at(i / 64) >> (63 - i % 64)) & 1) != 0;
    result = result << 1 | (digit ? 1 : 0);
  }
  return result;
}

// "V_TRIG_PREOP_F64" in the ISA.
double preop(double angle, unsigned segment) {
  const auto exponent = static_cast<int>((std::bit_cast<std::uint64_t>(angle) >> 52) & 0x7ff);
  int shift = static_cast<int>(segment & 31) * 53;
  if (exponent > 1077) shift += exponent - 1077;
  int scale = -53 - shift;
  if (exponent >= 1968) scale += 128;
  return std::ldexp(static_cast<double>(digits(static_cast<unsigned>(shift))), scale);
}

}  // namespace

void trigonometric_preop(const double* angles, const std::uint32_t* segments, double* results) {
  for (unsigned lane = 0; lane < 16; ++lane) results[lane] = preop(angles[lane], segments[lane]);
}

}  // namespace softgpu::compute
