#include <array>
#include <cmath>
#include <vector>

#include "hip_program.hpp"
#include "translator_kernels_code_object.hpp"
#include "translator_kernels_gfx942_code_object.hpp"

namespace softgpu::compute {
namespace {

constexpr Shape one_wave{.grid = {64, 1, 1}, .group = {64, 1, 1}};

HipProgram& program() {
  static HipProgram loaded(code_objects::translator_kernels(), code_objects::translator_kernels_gfx942());
  return loaded;
}

TEST(TranslatedKernels, registers_can_be_picked_by_a_computed_number) {
  for (int uniform = 0; uniform < 16; ++uniform) {
    std::vector<int> data(64), expected(64);
    for (int i = 0; i < 64; ++i) {
      data[static_cast<std::size_t>(i)] = 3 * i + 1;
      const int own = i & 15;
      expected[static_cast<std::size_t>(i)] =
          (3 * i + 1) * uniform + 1000 + (3 * i + 1) * own + (own == uniform ? 1000 : 0);
    }
    const auto failure = program().run("computed_registers", one_wave, data.data(), uniform);
    ASSERT_FALSE(failure) << failure->text;
    EXPECT_EQ(data, expected) << "register " << uniform;
  }
}

TEST(TranslatedKernels, matrices_are_multiplied_by_a_wavefront) {
  constexpr unsigned depth = 48;
  constexpr std::array<std::uint16_t, 5> halves = {0x0000, 0x3c00, 0x4000, 0x4200, 0x4400};  // 0 to 4
  std::vector<std::uint16_t> a(16 * depth), b(depth * 16);
  std::vector<float> d(256), expected(256);
  const auto left = [](unsigned i, unsigned k) { return (3 * i + k) % 5; };
  const auto right = [](unsigned k, unsigned j) { return (k + 2 * j) % 5; };
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned k = 0; k < depth; ++k) {
      a[i * depth + k] = halves.at(left(i, k));
      b[k * 16 + i] = halves.at(right(k, i));
      for (unsigned j = 0; j < 16; ++j) expected[i * 16 + j] += static_cast<float>(left(i, k) * right(k, j));
    }
  }
  const auto failure = program().run("matrix_product", one_wave, a.data(), b.data(), d.data(), depth);
  ASSERT_FALSE(failure) << failure->text;
  EXPECT_EQ(d, expected);
}

TEST(TranslatedKernels, lanes_leave_a_loop_one_by_one) {
  std::vector<unsigned> start(64), steps(64), expected(64);
  for (unsigned i = 0; i < 64; ++i) {
    start[i] = i + 1;
    for (unsigned n = i + 1; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++expected[i];
  }
  const auto failure = program().run("collatz_steps", one_wave, start.data(), steps.data());
  ASSERT_FALSE(failure) << failure->text;
  EXPECT_EQ(steps, expected);
}

TEST(TranslatedKernels, functions_of_the_math_library_are_as_exact_as_the_hosts) {
  std::vector<double> x(64), y(64);
  std::vector<float> z(64);
  for (unsigned i = 0; i < 64; ++i) x[i] = std::ldexp(1.0 + i / 64.0, static_cast<int>(i % 13));
  const auto failure = program().run("math_library", one_wave, x.data(), y.data(), z.data());
  ASSERT_FALSE(failure) << failure->text;
  for (unsigned i = 1; i < 64; ++i) {
    const double exact = std::sin(x[i]) + std::exp(x[i] * 0x1p-10) / std::log(x[i]) + std::sqrt(x[i]);
    EXPECT_NEAR(y[i], exact, 1e-14 * std::fabs(exact)) << x[i];
    const double power = std::pow(static_cast<float>(x[i]), 1.25);
    EXPECT_NEAR(z[i], power, 2e-7 * power) << x[i];
  }
}

}  // namespace
}  // namespace softgpu::compute
