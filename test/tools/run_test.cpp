// fastdispatch-run against results that are computed here.
#include "argument.hpp"
#include "npy_file.hpp"
#include "temporary_folder.hpp"
#include "tool.hpp"

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <gmock/gmock.h>

namespace tools::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

const std::string kernels = TOOLS_TEST_KERNELS;

Outcome run_tool(const std::string& arguments) { return run(std::string(TOOL_RUN) + " " + arguments); }

class Run : public ::testing::Test {
protected:
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.path() / name; }
  template <class T>
  [[nodiscard]] static std::vector<T> values_of(const std::string& path) {
    const Array array = read_npy(path);
    std::vector<T> values(array.size());
    EXPECT_EQ(array.bytes.size(), values.size() * sizeof(T));
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    return values;
  }
  /// What the tool prints when it runs the kernel, and saves its array `out`.
  static std::string succeed(const std::string& arguments) {
    const Outcome outcome = run_tool(kernels + " " + arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    return outcome.output;
  }
  static std::string fail(const std::string& arguments, int exit_code = 1) {
    const Outcome outcome = run_tool(arguments);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.output;
    EXPECT_THAT(outcome.output, ::testing::StartsWith("fastdispatch-run: "));
    EXPECT_EQ(std::count(outcome.output.begin(), outcome.output.end(), '\n'), 1) << outcome.output;
    return outcome.output;
  }

private:
  const TemporaryFolder folder_;
};

TEST_F(Run, computes_on_random_inputs_what_the_host_computes) {
  const std::string output =
      succeed("saxpy --grid 1024 --group 128 --seed 3 --arg f32=0.5 --arg f32[1000]=random --arg out:f32[1000]=random "
              "--arg u32=1000 --save out=" +
              file("y.npy"));
  EXPECT_THAT(output, HasSubstr("saxpy on gfx90a (soft GPU): 1024 x 1 x 1 work-items in groups of 128 x 1 x 1"));
  EXPECT_THAT(output, ContainsRegex("device time: [0-9.]+ us\n"));
  EXPECT_THAT(output, ContainsRegex("argument 3 out, f32\\[1000\\]: ([0-9.e-]+ ){8}\\.\\.\\."));

  std::mt19937_64 generator(3);
  const auto random = [&] { return std::ldexp(static_cast<float>(generator() >> 40), -24); };
  std::vector<float> x(1000);
  std::vector<float> y(1000);
  for (float& value : x) value = random();
  for (float& value : y) value = random();
  const std::vector<float> result = values_of<float>(file("y.npy"));
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_NEAR(result[i], 0.5F * x[i] + y[i], 1e-6) << i;
}

/// 64 elements from 0, and 100 added to each, by the kernel of this type.
template <class T>
void expect_sums(const std::string& type, const std::string& type_in_source, const std::string& path) {
  const Outcome outcome = run_tool(kernels + " 'add_one<" + type_in_source + ">' --grid 64 --arg out:" + type +
                                   "[64]=iota --arg " + type + "=100 --save out=" + path);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const Array array = read_npy(path);
  EXPECT_EQ(name_of(array.type), type);
  ASSERT_EQ(array.bytes.size(), 64 * sizeof(T));
  for (std::size_t i = 0; i < 64; ++i) {
    T value;
    std::memcpy(&value, &array.bytes[i * sizeof value], sizeof value);
    if constexpr (std::is_same_v<T, Half>)
      ASSERT_EQ(float_of(value), static_cast<float>(i + 100)) << i;
    else
      ASSERT_EQ(value, static_cast<T>(i + 100)) << type << " " << i;
  }
}

TEST_F(Run, takes_each_type_as_a_value_and_as_an_array) {
  expect_sums<std::int8_t>("i8", "signed char", file("i8.npy"));
  expect_sums<std::int16_t>("i16", "short", file("i16.npy"));
  expect_sums<std::int32_t>("i32", "int", file("i32.npy"));
  expect_sums<std::int64_t>("i64", "long", file("i64.npy"));
  expect_sums<std::uint8_t>("u8", "unsigned char", file("u8.npy"));
  expect_sums<std::uint16_t>("u16", "unsigned short", file("u16.npy"));
  expect_sums<std::uint32_t>("u32", "unsigned", file("u32.npy"));
  expect_sums<std::uint64_t>("u64", "unsigned long", file("u64.npy"));
  expect_sums<Half>("f16", "_Float16", file("f16.npy"));
  expect_sums<float>("f32", "float", file("f32.npy"));
  expect_sums<double>("f64", "double", file("f64.npy"));
}

TEST_F(Run, has_grids_of_two_dimensions_and_rows_of_arrays) {
  succeed("number_cells --grid 32x8 --group 16x4 --arg out:u32[8,32] --arg u32=32 --save out=" + file("cells.npy"));
  EXPECT_EQ(read_npy(file("cells.npy")).extents, (std::vector<std::size_t>{8, 32}));
  const std::vector<std::uint32_t> cells = values_of<std::uint32_t>(file("cells.npy"));
  for (std::uint32_t i = 0; i < cells.size(); ++i) ASSERT_EQ(cells[i], 1000 * (i / 32) + i % 32) << i;
}

TEST_F(Run, takes_structures_and_elements_one_by_one) {
  const std::string output = succeed("clamp_steps --grid 5 --arg a:i32[5]=-9,-1,0,1,9 --arg i32=-6,10,2");
  EXPECT_THAT(output, HasSubstr("argument 1 a, i32[5]: -6 -2 0 2 10\n"));
  EXPECT_THAT(fail(kernels + " clamp_steps --grid 5 --arg i32[5] --arg i32=1,2"),
              AllOf(HasSubstr("argument 2 at offset 8"), HasSubstr("by_value of 12 bytes"), HasSubstr("8 bytes")));
}

TEST_F(Run, gives_lds_beside_what_the_kernel_declares) {
  succeed("reverse --grid 256 --group 64 --dynamic-lds 256 --arg out:u32[256]=iota --save out=" + file("out.npy"));
  const std::vector<std::uint32_t> values = values_of<std::uint32_t>(file("out.npy"));
  for (std::uint32_t i = 0; i < 256; ++i) ASSERT_EQ(values[i], i / 64 * 64 + 63 - i % 64) << i;
}

TEST_F(Run, repeats_on_the_same_inputs_and_tells_median_and_fastest_time) {
  const std::string output = succeed(
      "'add_one<int>' --grid 64 --repeat 5 --arg out:i32[64]=7 --arg i32=1 --print 2 --save out=" + file("out.npy"));
  EXPECT_THAT(output, ContainsRegex("device time: [0-9.]+ us median, [0-9.]+ us fastest of 5\n"));
  EXPECT_THAT(output, HasSubstr("argument 1 out, i32[64]: 8 8 ...\n"));
  EXPECT_THAT(values_of<std::int32_t>(file("out.npy")), ::testing::Each(8));
}

TEST_F(Run, reads_arrays_from_files_that_it_wrote) {
  succeed("'add_one<int>' --grid 64 --arg a:i32[64]=iota --arg i32=1 --save a=" + file("a.npy"));
  const std::string output =
      succeed("'add_one<int>' --grid 64 --arg a:i32[]=" + file("a.npy") + " --arg i32=10 --print 3");
  EXPECT_THAT(output, HasSubstr("argument 1 a, i32[64]: 11 12 13 ...\n"));
  EXPECT_THAT(fail(kernels + " 'add_one<float>' --grid 64 --arg f32[64]=" + file("a.npy") + " --arg f32=1"),
              HasSubstr("holds i32[64], and the argument is f32[64]"));
}

TEST_F(Run, lists_kernels_with_their_arguments) {
  const std::string output = succeed("--list");
  EXPECT_THAT(output, HasSubstr("target: gfx90a"));
  EXPECT_THAT(output, HasSubstr("name: add_one<double>(double*, double)"));
  EXPECT_THAT(output, ContainsRegex("\n +16 +8 +array\n"));
  EXPECT_THAT(output, ContainsRegex("\n +24 +4 +value\n"));
}

TEST_F(Run, refuses_arguments_that_do_not_fit_the_kernel) {
  const std::string saxpy = kernels + " saxpy --grid 64 --arg f32=1 --arg f32[64] ";
  EXPECT_THAT(
      fail(saxpy + "--arg f32[64]"),
      HasSubstr("kernel saxpy takes 4 arguments, the signature has 3; the code object has: by_value of 4 bytes"));
  EXPECT_THAT(fail(saxpy + "--arg f32[64] --arg u64=64"),
              AllOf(HasSubstr("argument 4 at offset 24"), HasSubstr("by_value of 4 bytes"),
                    HasSubstr("value of 8 bytes (unsigned long)")));
  EXPECT_THAT(fail(saxpy + "--arg u32=1 --arg u32=64"),
              AllOf(HasSubstr("argument 3 at offset 16"), HasSubstr("a pointer is wanted")));
  EXPECT_THAT(fail(kernels + " 'add_one<float>' --grid 64 --arg i32[64] --arg f32=1"),
              AllOf(HasSubstr("argument 1 at offset 0"), HasSubstr("(float*)"), HasSubstr("(int*)"),
                    HasSubstr("the signature is what the --arg say")));
}

TEST_F(Run, refuses_kernels_and_files_that_are_not_there) {
  EXPECT_THAT(fail(kernels + " saxpi --grid 64"), AllOf(HasSubstr("has no kernel saxpi"), HasSubstr("saxpy")));
  EXPECT_THAT(fail(kernels + " add_one --grid 64"), HasSubstr("has several kernels add_one"));
  EXPECT_THAT(fail("nowhere.hsaco saxpy --grid 64"), HasSubstr("nowhere.hsaco: No such file or directory"));
  EXPECT_THAT(fail(std::string(TOOL_RUN) + " saxpy --grid 64"), HasSubstr("not for AMD GPUs"));
  const std::string add_one = kernels + " 'add_one<int>' --grid 64 --arg i32=1 --arg i32[]=";
  EXPECT_THAT(fail(add_one + "nothing.npy"), HasSubstr("argument 2: cannot read nothing.npy: No such file"));
  EXPECT_THAT(fail(add_one + kernels + " --arg i32[]=x.txt", 2), HasSubstr("only an array from a .npy file"));
  std::ofstream(file("text.npy")) << "1 2 3";
  EXPECT_THAT(fail(add_one + file("text.npy")), HasSubstr("this is no .npy file"));
  EXPECT_THAT(fail(kernels + " 'add_one<int>' --grid 64 --arg a:i32[64] --arg i32=1 --save a=/nowhere/a.npy"),
              HasSubstr("cannot write /nowhere/a.npy"));
}

TEST_F(Run, refuses_grids_that_cannot_be) {
  const std::string arguments = " --arg i32[64] --arg i32=1";
  EXPECT_THAT(fail(kernels + " 'add_one<int>' --grid 0" + arguments, 2), HasSubstr("--grid: '0': an extent is 0"));
  EXPECT_THAT(fail(kernels + " 'add_one<int>' --grid 64y2" + arguments, 2), HasSubstr("'64y2' is none of X, XxY"));
  EXPECT_THAT(fail(kernels + " 'add_one<int>' --grid 64 --group 0" + arguments, 2), HasSubstr("--group"));
  EXPECT_THAT(fail(kernels + " 'add_one<int>' --grid 4096 --group 2048" + arguments), HasSubstr("work-groups of 2048"));
  EXPECT_THAT(fail(kernels + " 'add_one<int>'" + arguments, 2), HasSubstr("--grid is missing"));
  EXPECT_THAT(fail(kernels, 2), HasSubstr("which KERNEL?"));
}

TEST_F(Run, refuses_what_it_does_not_understand) {
  EXPECT_THAT(fail(kernels + " saxpy --grid 64 --arg f33=1", 2), HasSubstr("'f33' is no type"));
  EXPECT_THAT(fail(kernels + " saxpy --grid 64 --save y=y.npy", 2), HasSubstr("no array is called 'y'"));
  EXPECT_THAT(fail(kernels + " saxpy --grid 64 --arg y:f32[4] --save y", 2), HasSubstr("is not NAME=FILE.npy"));
  EXPECT_THAT(fail(kernels + " saxpy --grid 64 --fast", 2), HasSubstr("--fast"));
  EXPECT_THAT(fail(kernels + " saxpy --grid 64 --arg u8=300 --arg f32=1"), HasSubstr("argument 1: '300' is no whole"));
}

TEST_F(Run, tells_what_the_gpu_cannot_give) {
  EXPECT_THAT(fail(kernels + " reverse --grid 64 --dynamic-lds 70000 --arg u32[64]"),
              HasSubstr("bytes of group memory"));
  EXPECT_THAT(fail(kernels + " reverse --grid 64 --device 9 --arg u32[64]"), HasSubstr("there is no GPU 9"));
}

}  // namespace
}  // namespace tools::test
