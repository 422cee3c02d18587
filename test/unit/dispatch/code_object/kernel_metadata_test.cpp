#include "dispatch/code_object/kernel_metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "test_files.hpp"

namespace fastdispatch::detail {
namespace {

using test::Bytes;
using test::error_of;
using ::testing::HasSubstr;

const KernelMetadata& find(const std::vector<KernelMetadata>& kernels, std::string_view name) {
  for (const KernelMetadata& kernel : kernels) {
    if (kernel.name == name) return kernel;
  }
  throw std::runtime_error("no such kernel in the test's code object");
}

TEST(KernelMetadata, has_what_the_compiler_wrote) {
  const auto kernels = read_kernel_metadata(test::hip_v4(), "file");
  EXPECT_EQ(kernels.size(), 7U);

  const KernelMetadata& add = find(kernels, "add");
  EXPECT_EQ(add.symbol, "add.kd");
  EXPECT_EQ(add.kernarg_segment_size, 28U);
  EXPECT_EQ(add.kernarg_segment_align, 8U);
  EXPECT_EQ(add.group_segment_fixed_size, 0U);
  EXPECT_EQ(add.max_flat_workgroup_size, 1024U);
  EXPECT_EQ(add.wavefront_size, 64U);
  ASSERT_EQ(add.arguments.size(), 4U);
  EXPECT_EQ(add.arguments[2].value_kind, "global_buffer");
  EXPECT_EQ(add.arguments[2].offset, 16U);
  EXPECT_EQ(add.arguments[3].value_kind, "by_value");
  EXPECT_EQ(add.arguments[3].size, 4U);

  EXPECT_GT(add.vector_registers, 0U);
  EXPECT_GT(add.scalar_registers, 6U);  // the kernel's arguments take as many
  EXPECT_EQ(add.accumulation_registers, 0U);
  EXPECT_EQ(add.spilled_vector_registers, 0U);

  const KernelMetadata& fill = find(kernels, "fill_pairs");
  EXPECT_EQ(fill.group_segment_fixed_size, 128U * 16U);
  EXPECT_EQ(fill.max_flat_workgroup_size, 128U);
}

TEST(KernelMetadata, knows_stacks_of_unknown_size) {
  const auto kernels = read_kernel_metadata(test::hip_v5(), "file");  // of version 4, newer compilers do not tell
  EXPECT_TRUE(find(kernels, "recursive").uses_dynamic_stack);
  EXPECT_FALSE(find(kernels, "add").uses_dynamic_stack);
}

TEST(KernelMetadata, lists_the_hidden_arguments_of_version5) {
  const auto kernels = read_kernel_metadata(test::hip_v5(), "file");
  const KernelMetadata& add = find(kernels, "add");
  EXPECT_TRUE(add.arguments.back().hidden());
  EXPECT_FALSE(add.arguments.front().hidden());
  EXPECT_GT(add.kernarg_segment_size, 256U);
}

TEST(KernelMetadata, that_is_not_there_is_an_error) {
  Bytes file = test::hip_v4();
  const std::string_view owner("AMDGPU\0", 7);
  const auto bytes = std::as_bytes(std::span(owner));
  const auto place = std::search(file.begin(), file.end(), bytes.begin(), bytes.end());
  ASSERT_NE(place, file.end());
  *place = std::byte{'B'};
  EXPECT_THAT(error_of([&] { static_cast<void>(read_kernel_metadata(file, "file")); }),
              HasSubstr("no note with AMDGPU metadata"));
}

TEST(KernelMetadata, with_an_argument_outside_of_the_segment_is_an_error) {
  Bytes file = test::hip_v4();
  const std::string_view key = ".kernarg_segment_size";
  const auto bytes = std::as_bytes(std::span(key));
  auto place = std::search(file.begin(), file.end(), bytes.begin(), bytes.end());
  ASSERT_NE(place, file.end());
  *(place + static_cast<std::ptrdiff_t>(key.size())) = std::byte{4};  // MessagePack's small integer
  EXPECT_THAT(error_of([&] { static_cast<void>(read_kernel_metadata(file, "file")); }),
              HasSubstr("outside of its kernarg segment of 4 bytes"));
}

}  // namespace
}  // namespace fastdispatch::detail
