// Code for generic processors is code that each of them runs.
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "hip_program.hpp"

namespace softgpu::compute {
namespace {

struct GenericCode {
  const char* processor;
  const char* runs_on;
};

class GenericKernels : public ::testing::TestWithParam<GenericCode> {};

TEST_P(GenericKernels, run) {
  const std::string path = std::string(TEST_CODE_OBJECTS "/add_") + GetParam().processor + ".elf";
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path;
  const std::vector<char> elf{std::istreambuf_iterator<char>(file), {}};
  HipProgram program(std::as_bytes(std::span(elf)), *Architecture::find(GetParam().runs_on));

  constexpr std::uint32_t count = 50;
  std::vector<std::uint32_t> a(count), sums(count + 1), expected(count + 1);
  std::iota(a.begin(), a.end(), 1U);
  for (std::size_t i = 0; i < count; ++i) expected[i] = 2 * a[i];
  const auto failure =
      program.run("add", {.grid = {64, 1, 1}, .group = {64, 1, 1}}, a.data(), a.data(), sums.data(), count);
  ASSERT_FALSE(failure) << failure->text;
  EXPECT_EQ(sums, expected);
}

INSTANTIATE_TEST_SUITE_P(Families, GenericKernels,
                         ::testing::Values(GenericCode{"gfx9-4-generic", "gfx942"},
                                           GenericCode{"gfx10-3-generic", "gfx1030"},
                                           GenericCode{"gfx11-generic", "gfx1100"},
                                           GenericCode{"gfx11-generic", "gfx1102"}),
                         [](const auto& each) { return std::string("on_") + each.param.runs_on; });

}  // namespace
}  // namespace softgpu::compute
