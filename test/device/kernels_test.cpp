#include <array>
#include <bit>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;

class Kernels : public Device {};

TEST_F(Kernels, add_two_vectors) {
  constexpr std::uint32_t n = 10'007;
  const auto add =
      module.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
  DeviceBuffer<std::uint32_t> a = upload(numbers(n));
  DeviceBuffer<std::uint32_t> b = upload(numbers(n, 1000));
  DeviceBuffer<std::uint32_t> sum(gpu, n);
  queue.dispatch(add, grid(n).group(256), a, b, sum, n).wait(limit);
  const std::vector<std::uint32_t> result = download(sum);
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(result[i], 2 * i + 1000) << i;
}

TEST_F(Kernels, tell_how_many_of_their_groups_the_gpu_holds) {
  const auto reverse = module.kernel<void(std::uint32_t*)>("reverse_groups_dynamic");
  const Grid groups = grid(1024).group(256);
  const Occupancy free = reverse.occupancy(groups);
  const std::uint32_t waves_per_group = 256 / gpu.wavefront_size();
  EXPECT_EQ(free.limit, OccupancyLimit::wave_slots);
  EXPECT_EQ(free.waves, free.most_waves);
  EXPECT_EQ(free.groups, free.most_waves / waves_per_group);
  EXPECT_EQ(free.groups_on_gpu, std::uint64_t{gpu.compute_units()} / free.compute_units * free.groups);
  EXPECT_EQ(reverse.occupancy(grid(1'000'000).group(256)), free) << "the grid's size does not matter";

  const std::uint32_t lds_bytes = gpu.properties().lds_bytes / 16 * 5;
  const Occupancy three = reverse.occupancy(groups.dynamic_lds(lds_bytes));
  EXPECT_EQ(three.groups, gpu.properties().lds_bytes * three.compute_units / lds_bytes);
  EXPECT_EQ(three.limit, OccupancyLimit::lds);
  EXPECT_EQ(to_string(three.limit), "LDS");
  EXPECT_EQ(reverse.occupancy(groups, lds_bytes), three) << "LocalMemory";

  EXPECT_THAT(
      error_of([&] { static_cast<void>(reverse.occupancy(grid(4096).group(2048))); }),
      AllOf(HasSubstr("reverse_groups_dynamic can't run in work-groups of 2048 x 1 x 1"), HasSubstr(gpu.name())));
  EXPECT_THAT(error_of([&] { static_cast<void>(reverse.occupancy(grid(0))); }), HasSubstr("they are empty"));
}

// As HSA tells them. The library has them from a table.
TEST_F(Kernels, have_as_many_places_for_wavefronts_as_hsa_says) {
  const auto add =
      module.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
  std::uint32_t waves = 0;
  ASSERT_EQ(gpu.api().agent_get_info(gpu.handle(), static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_MAX_WAVES_PER_CU),
                                     &waves),
            HSA_STATUS_SUCCESS);
  const Occupancy occupancy = add.occupancy(grid(256));
  EXPECT_EQ(occupancy.most_waves, waves * occupancy.compute_units);
}

TEST_F(Kernels, read_and_write_pinned_memory_in_place) {
  PinnedBuffer<std::uint32_t> values(gpu, 1000);
  std::iota(values.begin(), values.end(), 0U);
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  queue.dispatch(increment, grid(1000), values, 1000, 5).wait(limit);
  for (std::uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(values[i], i + 5);
}

TEST_F(Kernels, read_and_write_coarse_grained_host_memory_between_the_hosts_turns) {
  if (gpu.pools().host_coarse_grained.handle == 0) GTEST_SKIP() << "the HSA runtime has no such memory";
  PinnedBuffer<std::uint32_t> values(gpu, 1000, Coherence::coarse_grained);
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  Batch batch(gpu, {.fences = Fences::derived});
  for (int i = 0; i < 3; ++i) batch.dispatch(increment, grid(1000), read_write(values), 1000U, 5U);
  for (std::uint32_t turn = 0; turn < 3; ++turn) {
    std::fill(values.begin(), values.end(), turn);
    queue.submit(batch).wait(limit);
    EXPECT_THAT(values.span(), Each(turn + 15));
  }
  const DeviceBuffer<std::uint32_t> device = upload(numbers(1000));
  copy(values, device);
  EXPECT_EQ(values[999], 999U);
}

TEST_F(Kernels, exchange_values_through_static_and_dynamic_lds) {
  DeviceBuffer<std::uint32_t> values = upload(numbers(1024));
  std::vector<std::uint32_t> expected(1024);
  for (std::uint32_t i = 0; i < 1024; ++i) expected[i] = i / 256 * 256 + 255 - i % 256;

  queue.dispatch(module.kernel<void(std::uint32_t*)>("reverse_groups"), grid(1024).group(256), values).wait(limit);
  EXPECT_EQ(download(values), expected);
  const auto dynamic = module.kernel<void(std::uint32_t*)>("reverse_groups_dynamic");
  queue.dispatch(dynamic, grid(1024).group(256).dynamic_lds(1024), values).wait(limit);
  EXPECT_EQ(download(values), numbers(1024));
}

TEST_F(Kernels, of_opencl_get_local_memory_of_the_sizes_they_are_passed) {
  const Module opencl = Module::load(gpu, DEVICE_TEST_OPENCL);
  const auto rotate = opencl.kernel<void(std::uint32_t*, LocalMemory, LocalMemory)>("rotate");
  DeviceBuffer<std::uint32_t> values = upload(numbers(64));
  queue.dispatch(rotate, grid(64).group(64), values, LocalMemory{64 * 4}, LocalMemory{64 * 8}).wait(limit);
  std::vector<std::uint32_t> expected(64);
  for (std::uint32_t i = 0; i < 64; ++i) expected[i] = (i + 1) % 64 + 1000 * ((i + 2) % 64);
  EXPECT_EQ(download(values), expected);
}

TEST_F(Kernels, visit_each_cell_of_a_grid_with_partial_groups_once) {
  constexpr std::uint32_t width = 37;
  constexpr std::uint32_t height = 19;
  constexpr std::uint32_t depth = 5;
  const auto visit = module.kernel<void(std::uint32_t*, std::uint32_t*, std::uint32_t, std::uint32_t)>("visit_cells");
  DeviceBuffer<std::uint32_t> visits = upload(std::vector<std::uint32_t>(width * height * depth));
  DeviceBuffer<std::uint32_t> groups(gpu, visits.size());
  queue.dispatch(visit, grid(width, height, depth).group(16, 4, 2), visits, groups, width, height).wait(limit);
  EXPECT_THAT(download(visits), Each(1U));
  const std::vector<std::uint32_t> group = download(groups);
  for (std::uint32_t z = 0; z < depth; ++z) {
    for (std::uint32_t y = 0; y < height; ++y) {
      for (std::uint32_t x = 0; x < width; ++x) {
        ASSERT_EQ(group[(z * height + y) * width + x], x / 16 | (y / 4) << 10 | (z / 2) << 20) << x << ' ' << y << z;
      }
    }
  }
}

TEST_F(Kernels, call_functions_by_pointer_and_functions_that_call_themselves) {
  constexpr std::uint32_t n = 1000;
  const auto call =
      module.kernel<void(const std::uint32_t*, std::uint32_t*, std::uint32_t*, std::uint32_t)>("call_functions");
  DeviceBuffer<std::uint32_t> values = upload(numbers(n, 12345));
  DeviceBuffer<std::uint32_t> by_pointer(gpu, n);
  DeviceBuffer<std::uint32_t> by_itself(gpu, n);
  queue.dispatch(call, grid(n).group(128), values, by_pointer, by_itself, n).wait(limit);
  constexpr std::array<std::uint32_t, 12> fibonacci = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  const std::vector<std::uint32_t> pointed = download(by_pointer);
  const std::vector<std::uint32_t> recursive = download(by_itself);
  for (std::uint32_t i = 0; i < n; ++i) {
    const std::uint32_t value = i + 12345;
    const std::uint32_t mixed = (value ^ (i << 7)) * 2654435761U + i;
    ASSERT_EQ(pointed[i], value % 2 == 0 ? mixed : std::rotr(value, static_cast<int>(i % 32))) << i;
    ASSERT_EQ(recursive[i], fibonacci[i % 12]) << i;
  }
}

TEST_F(Kernels, take_structures_and_small_values) {
  struct Polynomial {
    double constant;
    float linear;
    std::int8_t square;
  };
  const auto evaluate = module.kernel<void(double*, Polynomial, std::uint16_t)>("evaluate");
  DeviceBuffer<double> results(gpu, 300);
  queue.dispatch(evaluate, grid(300), results, Polynomial{0.25, 1.5F, -3}, std::uint16_t{300}).wait(limit);
  const std::vector<double> result = download(results);
  for (int i = 0; i < 300; ++i) ASSERT_EQ(result[static_cast<std::size_t>(i)], 0.25 + 1.5 * i - 3.0 * i * i) << i;
}

TEST_F(Kernels, access_private_memory_at_any_alignment) {
  constexpr std::uint32_t first = 13;
  const auto access = module.kernel<void(std::uint32_t*, std::uint32_t)>("access_unaligned");
  DeviceBuffer<std::uint32_t> results(gpu, 256);
  queue.dispatch(access, grid(128), results, first).wait(limit);
  const std::vector<std::uint32_t> result = download(results);
  for (std::uint32_t i = 0; i < 128; ++i) {
    const std::uint32_t value = 0x01020304U * i;
    const std::uint32_t next = first + i % 8 + 4;  // the byte behind the value
    ASSERT_EQ(result[std::size_t{2} * i], value) << i;
    ASSERT_EQ(result[std::size_t{2} * i + 1], value >> 24 | next << 8 | (next + 1) << 16 | (next + 2) << 24) << i;
  }
}

// Of 100 x 6 x 3 work-items in groups of 32 x 3 x 1, the last groups are partial. Compilers of LLVM 16 and later treat
// all work-groups as whole: blockDim is everywhere the size of a whole group. Version 5 of the ABI computes gridDim
// from the count of whole groups and a rest; these compilers leave out the rest. Theirs is version 5 from LLVM 18 on.
enum class Version : std::uint8_t { of_the_compiler, v5 };
void expect_shape(Queue& queue, const Module& module, Version version) {
  PinnedBuffer<std::uint32_t> shape(queue.agent(), 8);
  std::fill(shape.begin(), shape.end(), 0U);
  const auto report = module.kernel<void(std::uint32_t*)>("report_shape");
  queue.dispatch(report, grid(100, 6, 3).group(32, 3, 1), shape).wait();
  const std::uint32_t compiler = shape[7];
  const bool counts_whole_groups = compiler >= (version == Version::v5 ? 16 : 18);
  EXPECT_THAT(std::vector(shape.begin(), shape.end()),
              ::testing::ElementsAre(32, 3, 1, counts_whole_groups ? 3 : 4, 2, 3, compiler >= 16 ? 32 : 4, compiler));
}

TEST_F(Kernels, know_the_shape_of_their_launch) { expect_shape(queue, module, Version::of_the_compiler); }

TEST_F(Kernels, of_code_object_v5_know_the_shape_of_their_launch) {
  expect_shape(queue, Module::load(gpu, DEVICE_TEST_KERNELS_V5), Version::v5);
}

TEST_F(Kernels, are_found_by_symbol_and_by_their_name_in_the_source) {
  DeviceBuffer<float> values = upload(std::vector<float>{1, 2, 3});
  queue.dispatch(module.kernel<void(float*)>("twice::scale"), grid(3), values).wait(limit);
  queue.dispatch(module.kernel<void(float*)>("_ZN5twice5scaleEPf"), grid(3), values).wait(limit);
  queue.dispatch(module.kernel<void(float*)>("twice::scale( float * )"), grid(3), values).wait(limit);
  EXPECT_EQ(download(values), (std::vector<float>{8, 16, 24}));
}

TEST_F(Kernels, with_other_types_than_the_signature_are_refused_when_they_are_looked_up) {
  EXPECT_THAT(error_of([&] { static_cast<void>(module.kernel<void(std::uint32_t*)>("twice::scale")); }),
              AllOf(HasSubstr("kernel twice::scale(float*), argument 1"), HasSubstr("unsigned int*")));
  EXPECT_THAT(error_of([&] { static_cast<void>(module.kernel<void(const float*)>("twice::scale")); }),
              HasSubstr("may write"));
}

TEST_F(Kernels, that_do_not_exist_are_an_error_that_lists_those_that_do) {
  EXPECT_THAT(error_of([&] { static_cast<void>(module.kernel<void(float*)>("scaled")); }),
              AllOf(HasSubstr("no kernel scaled"), HasSubstr("reverse_groups"), HasSubstr("add")));
}

TEST_F(Kernels, launched_in_too_large_groups_are_refused) {
  DeviceBuffer<std::uint32_t> values(gpu, 2048);
  const auto reverse = module.kernel<void(std::uint32_t*)>("reverse_groups");
  EXPECT_THAT(error_of([&] { queue.dispatch(reverse, grid(2048).group(512), values); }),
              AllOf(HasSubstr("reverse_groups"), HasSubstr("512"), HasSubstr("256")));
  const auto dynamic = module.kernel<void(std::uint32_t*)>("reverse_groups_dynamic");
  EXPECT_THAT(error_of([&] { queue.dispatch(dynamic, grid(2048).group(256).dynamic_lds(1U << 20), values); }),
              AllOf(HasSubstr("group memory"), HasSubstr("1048576")));
  queue.wait(limit);  // nothing of that reached the queue
}

TEST_F(Kernels, that_write_to_a_wild_address_that_is_not_canonical_end_as_an_error_without_address) {
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  const auto write = module.kernel<void(std::uint32_t*)>("write_to");
  const Submission submission =
      queue.dispatch(write, grid(1), std::bit_cast<std::uint32_t*>(std::uint64_t{0xdeadbeefdeadbee0}));
  const std::string text = error_of([&] { submission.wait(limit); });
  EXPECT_THAT(text, HasSubstr("memory fault"));
  EXPECT_THAT(text, testing::Not(HasSubstr("0x0:")));
}

TEST_F(Kernels, that_write_to_a_wild_address_end_as_an_error_with_kernel_and_address) {
  if (!tells_memory_fault()) GTEST_SKIP() << "this ROCr has told a memory fault before";
  const auto write = module.kernel<void(std::uint32_t*)>("write_to");
  auto* wild = reinterpret_cast<std::uint32_t*>(0xdead000);  // NOLINT(performance-no-int-to-ptr)
  const Submission submission = queue.dispatch(write, grid(1), wild);
  EXPECT_THAT(error_of([&] { submission.wait(limit); }), AllOf(HasSubstr("write_to"), HasSubstr("0xdead000")));
}

TEST_F(Kernels, that_run_too_long_end_as_a_timeout_and_can_be_waited_for_again) {
  PinnedBuffer<std::uint32_t> flags(gpu, 2);
  flags[0] = flags[1] = 0;
  const auto wait_for = module.kernel<void(const std::uint32_t*, std::uint32_t*)>("wait_for");
  const Submission submission = queue.dispatch(wait_for, grid(1), flags.data(), flags.data() + 1);
  EXPECT_THROW(submission.wait({.timeout = std::chrono::milliseconds(50)}), TimeoutError);
  std::atomic_ref(flags[0]).store(7);
  submission.wait(limit);
  EXPECT_EQ(flags[1], 7U);
}

}  // namespace
}  // namespace fastdispatch::test
