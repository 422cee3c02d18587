// Signatures, implicit arguments and packets of kernels that hipcc and clang compiled.
#include "fastdispatch/kernel.hpp"

#include <hsa/amd_hsa_queue.h>

#include <array>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/code_object/kernel_info.hpp"
#include "dispatch/code_object/signature.hpp"
#include "dispatch/hostcall/hostcall.hpp"
#include "expect_error.hpp"
#include "fastdispatch/module.hpp"
#include "mock_hsa.hpp"
#include "test_files.hpp"

namespace fastdispatch::detail {
namespace {

using test::error_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

struct Pair {
  float first;
  double second;
};

KernelMetadata metadata(const test::Bytes& file, std::string_view name) {
  for (KernelMetadata& kernel : read_kernel_metadata(file, "file")) {
    if (kernel.name == name) return std::move(kernel);
  }
  throw std::runtime_error("no such kernel in the test's code object");
}

template <class Signature>
void check(const KernelMetadata& kernel) {
  check_signature(kernel, ParametersOf<Signature>::list());
}
template <class Signature>
std::string error(const KernelMetadata& kernel) {
  return error_of([&] { check<Signature>(kernel); });
}

template <class T>
T read(const std::byte* memory, std::size_t offset) {
  T value;
  std::memcpy(&value, memory + offset, sizeof(T));  // NOLINT(bugprone-sizeof-expression): of pointers, too
  return value;
}

TEST(Signature, that_is_the_kernels_own_is_accepted) {
  check<void(const unsigned*, const unsigned*, unsigned*, unsigned)>(metadata(test::hip_v4(), "add"));
  check<void(const unsigned*, const unsigned*, unsigned*, unsigned)>(metadata(test::hip_v5(), "add"));
  check<void(Pair*, Pair, char)>(metadata(test::hip_v4(), "fill_pairs"));
  check<void(unsigned*, LocalMemory, LocalMemory)>(metadata(test::opencl_v4(), "rotate_groups"));
}

TEST(Signature, with_another_count_of_parameters_is_an_error_that_lists_the_arguments) {
  EXPECT_THAT(error<void(unsigned*)>(metadata(test::hip_v4(), "add")),
              AllOf(HasSubstr("kernel add takes 4 arguments"), HasSubstr("the signature has 1"),
                    HasSubstr("global_buffer of 8 bytes, global_buffer")));
  EXPECT_THAT(error<void(unsigned*, unsigned*, unsigned*, unsigned, unsigned)>(metadata(test::hip_v5(), "add")),
              HasSubstr("takes 4 arguments"));
}

TEST(Signature, with_another_kind_or_size_is_an_error_that_names_both_sides) {
  const KernelMetadata add = metadata(test::hip_v4(), "add");
  EXPECT_THAT((error<void(const unsigned*, std::uint64_t, unsigned*, unsigned)>(add)),
              AllOf(HasSubstr("argument 2"), HasSubstr("global_buffer of 8 bytes"),
                    HasSubstr("value of 8 bytes (unsigned long)"), HasSubstr("a pointer is wanted")));
  EXPECT_THAT((error<void(const unsigned*, const unsigned*, unsigned*, std::uint64_t)>(add)),
              AllOf(HasSubstr("argument 4"), HasSubstr("by_value of 4 bytes"), HasSubstr("sizes must be equal")));
  EXPECT_THAT((error<void(const unsigned*, const unsigned*, unsigned*, unsigned*)>(add)),
              AllOf(HasSubstr("argument 4"), HasSubstr("pointer of 8 bytes (unsigned int*)"), HasSubstr("a value")));
  EXPECT_THAT((error<void(unsigned*, unsigned, LocalMemory)>(metadata(test::opencl_v4(), "rotate_groups"))),
              AllOf(HasSubstr("argument 2"), HasSubstr("dynamic_shared_pointer"), HasSubstr("LocalMemory is wanted")));
}

TEST(KernelInfo, has_as_much_private_memory_as_a_dynamic_stack_may_need) {
  test::MockHsa hsa;
  const auto stack_of = [&](const KernelMetadata& kernel, std::uint32_t bytes) {
    return make_kernel_info(kernel, 0x1000, hsa.agent(), bytes).private_segment_size;
  };
  KernelMetadata recursive = metadata(test::hip_v5(), "recursive");
  recursive.private_segment_fixed_size = 64;  // as newer compilers write it: what is needed without the calls
  EXPECT_EQ(stack_of(recursive, 4096), 4096U);
  EXPECT_EQ(stack_of(recursive, 16), 64U);
  EXPECT_EQ(make_kernel_info(recursive, 0x1000, hsa.agent()).private_segment_size, 1024U) << "HIP's default";
  EXPECT_EQ(stack_of(metadata(test::hip_v5(), "add"), 4096), 0U);
}

TEST(KernelInfo, tells_that_a_gpus_occupancy_is_not_known) {
  test::MockHsa hsa;
  KernelInfo info = make_kernel_info(metadata(test::hip_v4(), "add"), 0x1000, hsa.agent());
  info.processor = "gfx803";
  EXPECT_THAT(error_of([&] { static_cast<void>(occupancy_of(info, grid(256), 0)); }),
              AllOf(HasSubstr("occupancy of kernel add"), HasSubstr("compute units of gfx803")));
}

TEST(WriteArguments, puts_each_where_the_code_object_wants_it) {
  test::MockHsa hsa;
  const KernelInfo info = make_kernel_info(metadata(test::hip_v4(), "fill_pairs"), 0x1000, hsa.agent());
  const Kernel<void(Pair*, Pair, char)> kernel(info);
  alignas(64) std::array<std::byte, 64> kernarg{};
  Pair target{};
  kernel.write_arguments(kernarg.data(), &target, Pair{1.5F, 2.5}, 'x');
  EXPECT_EQ(read<Pair*>(kernarg.data(), 0), &target);
  EXPECT_EQ(read<float>(kernarg.data(), 8), 1.5F);
  EXPECT_EQ(read<double>(kernarg.data(), 16), 2.5);
  EXPECT_EQ(read<char>(kernarg.data(), 24), 'x');
}

TEST(WriteArguments, converts_to_the_parameters_type) {
  test::MockHsa hsa;
  const KernelInfo info = make_kernel_info(metadata(test::hip_v4(), "add"), 0x1000, hsa.agent());
  const Kernel<void(const unsigned*, const unsigned*, unsigned*, unsigned)> kernel(info);
  alignas(64) std::array<std::byte, 64> kernarg{};
  std::array<unsigned, 4> values{};
  kernel.write_arguments(kernarg.data(), nullptr, values, values.data(), 7);
  EXPECT_EQ(read<unsigned*>(kernarg.data(), 0), nullptr);
  EXPECT_EQ(read<unsigned*>(kernarg.data(), 8), values.data());
  EXPECT_EQ(read<unsigned*>(kernarg.data(), 16), values.data());
  EXPECT_EQ(read<unsigned>(kernarg.data(), 24), 7U);
}

TEST(WriteArguments, places_local_memory_one_after_the_other) {
  test::MockHsa hsa;
  const KernelInfo info = make_kernel_info(metadata(test::opencl_v4(), "rotate_groups"), 0x1000, hsa.agent());
  using Rotate = Kernel<void(unsigned*, LocalMemory, LocalMemory)>;
  alignas(64) std::array<std::byte, 128> kernarg{};
  Rotate(info).write_arguments(kernarg.data(), nullptr, LocalMemory{100}, LocalMemory{64});
  EXPECT_EQ(read<std::uint32_t>(kernarg.data(), 8), 0U);
  EXPECT_EQ(read<std::uint32_t>(kernarg.data(), 12), 112U);

  const std::uint64_t local = Rotate::local_memory(nullptr, LocalMemory{100}, LocalMemory{64});
  EXPECT_EQ(local, 112U + 64U);
  EXPECT_EQ(dispatch_packet(info, grid(64), local, kernarg.data(), {}).words[7], local);
}

TEST(ImplicitArguments, of_version5_are_filled_by_their_names) {
  test::MockHsa hsa;
  const KernelMetadata add = metadata(test::hip_v5(), "add");
  const KernelInfo info = make_kernel_info(add, 0x1000, hsa.agent());
  std::vector<std::byte> kernarg(info.kernarg_size, std::byte{0xcc});
  write_implicit_arguments(info, grid(1000, 30, 7).group(64, 8, 2), kernarg.data());

  const auto offset_of = [&](std::string_view kind) -> std::size_t {
    for (const ArgumentMetadata& argument : add.arguments) {
      if (argument.value_kind == kind) return argument.offset;
    }
    throw std::runtime_error("no such hidden argument in the test's code object");
  };
  const auto value32 = [&](std::string_view kind) { return read<std::uint32_t>(kernarg.data(), offset_of(kind)); };
  const auto value16 = [&](std::string_view kind) { return read<std::uint16_t>(kernarg.data(), offset_of(kind)); };
  EXPECT_EQ(value32("hidden_block_count_x"), 15U);  // complete groups only
  EXPECT_EQ(value32("hidden_block_count_y"), 3U);
  EXPECT_EQ(value32("hidden_block_count_z"), 3U);
  EXPECT_EQ(value16("hidden_group_size_x"), 64U);
  EXPECT_EQ(value16("hidden_group_size_y"), 8U);
  EXPECT_EQ(value16("hidden_group_size_z"), 2U);
  EXPECT_EQ(value16("hidden_remainder_x"), 40U);
  EXPECT_EQ(value16("hidden_remainder_y"), 6U);
  EXPECT_EQ(value16("hidden_remainder_z"), 1U);
  EXPECT_EQ(value16("hidden_grid_dims"), 3U);
  EXPECT_EQ(read<std::uint64_t>(kernarg.data(), offset_of("hidden_global_offset_x")), 0U);
  for (const ArgumentMetadata& argument : add.arguments) {  // compilers from 16 on leave out what is not used
    if (argument.value_kind == "hidden_hostcall_buffer" || argument.value_kind == "hidden_heap_v1") {
      EXPECT_EQ(read<std::uint64_t>(kernarg.data(), argument.offset), 0U) << argument.value_kind;
    }
  }
}

TEST(ImplicitArguments, of_version4_are_zero) {
  test::MockHsa hsa;
  const KernelInfo info = make_kernel_info(metadata(test::opencl_v4(), "rotate_groups"), 0x1000, hsa.agent());
  std::vector<std::byte> kernarg(info.kernarg_size, std::byte{0xcc});
  EXPECT_FALSE(info.needs_queue);
  write_implicit_arguments(info, grid(64), kernarg.data());
  EXPECT_THAT(kernarg, ::testing::Each(std::byte{0}));
}

TEST(ImplicitArguments, come_from_the_queue_where_they_are_apertures_or_its_address) {
  test::MockHsa hsa;
  KernelMetadata kernel{.name = "old", .symbol = "old.kd", .kernarg_segment_size = 20};
  kernel.arguments = {{.value_kind = "hidden_private_base", .offset = 0, .size = 4},
                      {.value_kind = "hidden_shared_base", .offset = 4, .size = 4},
                      {.value_kind = "hidden_queue_ptr", .offset = 8, .size = 8},
                      {.value_kind = "hidden_dynamic_lds_size", .offset = 16, .size = 4}};
  const KernelInfo info = make_kernel_info(kernel, 0x1000, hsa.agent());
  ASSERT_TRUE(info.needs_queue);
  amd_queue_t queue{};
  queue.private_segment_aperture_base_hi = 0x10000;
  queue.group_segment_aperture_base_hi = 0x20000;
  std::array<std::byte, 20> kernarg{};
  write_implicit_arguments(info, grid(64).dynamic_lds(512), kernarg.data());
  write_queue_arguments(info, &queue.hsa_queue, kernarg.data());
  EXPECT_EQ(read<std::uint32_t>(kernarg.data(), 0), 0x10000U);
  EXPECT_EQ(read<std::uint32_t>(kernarg.data(), 4), 0x20000U);
  EXPECT_EQ(read<std::uint64_t>(kernarg.data(), 8), reinterpret_cast<std::uintptr_t>(&queue));
  EXPECT_EQ(read<std::uint32_t>(kernarg.data(), 16), 512U);
}

TEST(ImplicitArguments, of_hostcall_are_a_buffer_of_the_queue_and_the_agents_heap) {
  test::MockHsa hsa;
  hsa.end_copies({0, 0});
  KernelMetadata kernel{.name = "prints", .symbol = "prints.kd", .kernarg_segment_size = 16};
  kernel.arguments = {{.value_kind = "hidden_hostcall_buffer", .offset = 0, .size = 8},
                      {.value_kind = "hidden_heap_v1", .offset = 8, .size = 8}};
  check_implicit_arguments(kernel);
  KernelInfo info = make_kernel_info(kernel, 0x1000, hsa.agent());
  ASSERT_TRUE(info.needs_queue);
  const std::size_t signals = hsa.signals();
  provide_services(info, hsa.agent());
  EXPECT_GT(hsa.signals(), signals);  // the doorbell
  provide_services(info, hsa.agent());

  std::array<hsa_queue_t, 2> queues{};
  std::array<std::array<std::byte, 16>, 2> kernargs{};
  for (std::size_t i = 0; i < 2; ++i) {
    write_implicit_arguments(info, grid(64), kernargs[i].data());
    write_queue_arguments(info, &queues[i], kernargs[i].data());
    EXPECT_EQ(read<std::uint64_t>(kernargs[i].data(), 0), hostcall_of(hsa.agent()).buffer_of(&queues[i]));
    EXPECT_EQ(read<std::uint64_t>(kernargs[i].data(), 8), hostcall_of(hsa.agent()).heap_state());
  }
  EXPECT_NE(kernargs[0], kernargs[1]);

  hsa.fail("amd_memory_pool_allocate", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  const hsa_queue_t third{};
  EXPECT_THAT(error_of([&] { write_queue_arguments(info, &third, kernargs[0].data()); }),
              HasSubstr("pinned host memory"));
}

TEST(ImplicitArguments, that_are_of_no_use_to_the_kernel_make_no_hostcall) {
  test::MockHsa hsa;
  KernelInfo info = make_kernel_info(metadata(test::hip_v4(), "add"), 0x1000, hsa.agent());
  const int calls = hsa.calls();
  provide_services(info, hsa.agent());
  EXPECT_EQ(hsa.calls(), calls);
}

TEST(ImplicitArguments, of_a_printf_that_is_read_after_the_kernel_are_an_error) {
  KernelMetadata kernel{.name = "buffered", .symbol = "buffered.kd", .kernarg_segment_size = 8};
  kernel.arguments = {{.value_kind = "hidden_printf_buffer", .offset = 0, .size = 8}};
  EXPECT_THAT(error_of([&] { check_implicit_arguments(kernel); }),
              AllOf(HasSubstr("kernel buffered"), HasSubstr("hidden_printf_buffer"), HasSubstr("hostcall")));
}

TEST(ImplicitArguments, that_are_addresses_of_another_size_are_an_error) {
  KernelMetadata kernel{.name = "narrow", .symbol = "narrow.kd", .kernarg_segment_size = 8};
  kernel.arguments = {{.value_kind = "hidden_hostcall_buffer", .offset = 0, .size = 4}};
  EXPECT_THAT(error_of([&] { check_implicit_arguments(kernel); }), HasSubstr("hidden_hostcall_buffer of 4 bytes"));
}

TEST(ImplicitArguments, that_are_not_known_are_an_error) {
  KernelMetadata kernel{.name = "future", .symbol = "future.kd", .kernarg_segment_size = 8};
  kernel.arguments = {{.value_kind = "hidden_teapot", .offset = 0, .size = 8}};
  EXPECT_THAT(error_of([&] { check_implicit_arguments(kernel); }), HasSubstr("hidden_teapot"));
}

TEST(CheckDispatch, refuses_what_the_kernel_or_the_device_cannot_do) {
  test::MockHsa hsa;
  const Agent agent = hsa.agent();
  const KernelInfo info = make_kernel_info(metadata(test::hip_v4(), "fill_pairs"), 0x1000, agent);
  const auto error = [&](const Grid& grid) { return error_of([&] { check_dispatch(info, grid, 0, agent); }); };
  check_dispatch(info, grid(128).group(128), 0, agent);
  EXPECT_THAT(error(grid(256).group(129)), AllOf(HasSubstr("fill_pairs"), HasSubstr("129 x 1 x 1"), HasSubstr("128")));
  EXPECT_THAT(error(grid(64, 64, 64).group(8, 8, 4)), HasSubstr("8 x 8 x 4"));
  EXPECT_THAT(error(grid(1U << 20, 1U << 20, 1U << 24).group(1U << 20, 1U << 20, 1U << 24)), HasSubstr("fill_pairs"));
  const auto too_much = static_cast<std::uint32_t>(agent.properties().lds_bytes) - 2048 + 1;
  EXPECT_THAT(error(grid(64).dynamic_lds(too_much)), AllOf(HasSubstr("group memory"), HasSubstr("2048 of its own")));
  EXPECT_THAT(error(grid(0)), HasSubstr("no work-items"));
}

}  // namespace
}  // namespace fastdispatch::detail
