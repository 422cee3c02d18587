#include "matrix.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>

#include "byte_float_rules.hpp"
#include "half.hpp"
#include "tested_target.hpp"

namespace softgpu::isa {
namespace {

/// A few bits of mantissa around 1, or whole numbers for integers.
double small_number(Random& random) { return (static_cast<double>(random() % 31) - 15.5) / 4; }

const ByteFloatRules& byte_float(Element type) { return type == Element::fp8 ? fp8_rules() : bf8_rules(); }

/// CDNA2 takes denormals of 16 bits as zeros.
bool flushes_denormals() { return tested_target().architecture->flushes_matrix_denormals; }

}  // namespace

unsigned Matrix::bits() const {
  constexpr std::array<unsigned, 8> widths = {32, 64, 16, 16, 8, 8, 8, 32};
  return widths.at(static_cast<unsigned>(type));
}

void PrintTo(const Matrix& matrix, std::ostream* stream) { *stream << matrix.mnemonic << matrix.modifiers; }

u64 small_bits(Element type, Random& random) {
  const bool is_denormal = flushes_denormals() && random() % 8 == 0;
  switch (type) {
  case Element::f32:
    return std::bit_cast<u32>(static_cast<float>(small_number(random)));
  case Element::xf32:  // with bits that do not count
    return std::bit_cast<u32>(static_cast<float>(small_number(random))) | random() % 0x2000;
  case Element::f64:
    return std::bit_cast<u64>(small_number(random));
  case Element::f16:
    return is_denormal ? 0x8003 : Half(small_number(random)).bits;
  case Element::bf16:
    return is_denormal ? 0x0041 : std::bit_cast<u32>(static_cast<float>(small_number(random))) >> 16;
  case Element::fp8:
  case Element::bf8:
    return byte_float(type).narrow(static_cast<float>(small_number(random)));
  case Element::i8:
    break;
  }
  return random() % 256;
}

u32 former_sums(Element type, bool saturates, Random& random, u32 any) {
  if (type == Element::i8) return saturates ? 0x7fffff00U + static_cast<u32>(random() % 512) : any;
  if (type == Element::f32) return static_cast<u32>(small_bits(type, random));
  u32 held = 0;
  for (unsigned bit = 0; bit < 32; bit += 16)
    held |= static_cast<u32>(type == Element::bf16 ? 0x4000 : small_bits(type, random)) << bit;
  return held;
}

double number(Element type, u64 bits) {
  switch (type) {
  case Element::f32:
    return std::bit_cast<float>(static_cast<u32>(bits));
  case Element::xf32:
    return std::bit_cast<float>(static_cast<u32>(bits) & 0xffffe000);
  case Element::f64:
    return std::bit_cast<double>(bits);
  case Element::f16:
    return flushes_denormals() && (bits & 0x7c00) == 0
               ? 0
               : static_cast<double>(Half::from_bits(static_cast<std::uint16_t>(bits)));
  case Element::bf16:
    return flushes_denormals() && (bits & 0x7f80) == 0 ? 0 : std::bit_cast<float>(static_cast<u32>(bits) << 16);
  case Element::fp8:
  case Element::bf8:
    return byte_float(type).widen(static_cast<std::uint8_t>(bits));
  case Element::i8:
    break;
  }
  return static_cast<std::int8_t>(bits);
}

Position position(const Matrix& m, unsigned n, unsigned lane) {
  if (m.type == Element::f64) {
    if (m.size == 16) return {0, 4 * n + lane / 16, lane % 16};
    return {lane / 4 % 4, lane / 16, lane % 4};
  }
  if (m.size == 32) return {n / 16, 8 * (n % 16 / 4) + 4 * (lane / 32) + n % 4, lane % 32};
  if (m.size == 16) return {n / 4, 4 * (lane / 16) + n % 4, lane % 16};
  return {lane / 4, n, lane % 4};
}

std::string matrix_test_name(std::string mnemonic, const std::string& modifiers) {
  mnemonic += modifiers;
  std::ranges::replace_if(
      mnemonic, [](unsigned char letter) { return std::isalnum(letter) == 0; }, '_');
  return mnemonic;
}

}  // namespace softgpu::isa
