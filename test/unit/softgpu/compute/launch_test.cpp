#include <bit>
#include <set>
#include <utility>
#include <vector>

#include "softgpu/compute/execution/launch.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {
namespace {

Failure::Kind refusal(const hsa_kernel_dispatch_packet_t& packet) {
  const auto made = Launch::make(kernel_of(nullptr, Waits::never), packet, {});
  EXPECT_TRUE(std::holds_alternative<Failure>(made));
  return std::get<Failure>(made).kind;
}

PreparedLaunch prepared(const hsa_kernel_dispatch_packet_t& packet, const KernelDescriptor& descriptor = {},
                        const QueueView& queue = {}) {
  return {kernel_of(nullptr, Waits::never, descriptor), packet, queue};
}

TEST(Launch, refuses_sizes_of_zero_and_wrong_dimension_counts) {
  EXPECT_EQ(refusal(packet_of({0, 1, 1}, {1, 1, 1})), Failure::Kind::invalid_dimensions);
  EXPECT_EQ(refusal(packet_of({1, 1, 1}, {1, 0, 1})), Failure::Kind::invalid_dimensions);
  auto packet = packet_of({1, 1, 1}, {1, 1, 1});
  packet.setup = 0;
  EXPECT_EQ(refusal(packet), Failure::Kind::invalid_dimensions);
  packet = packet_of({4, 4, 1}, {1, 1, 1});
  packet.setup = 1;
  EXPECT_EQ(refusal(packet), Failure::Kind::invalid_dimensions);
}

TEST(Launch, refuses_what_is_beyond_the_limits_of_a_work_group) {
  EXPECT_EQ(refusal(packet_of({2048, 1, 1}, {1025, 1, 1})), Failure::Kind::work_group_size);
  EXPECT_EQ(refusal(packet_of({64, 64, 64}, {16, 16, 8})), Failure::Kind::work_group_size);
  auto packet = packet_of({1, 1, 1}, {1, 1, 1});
  packet.group_segment_size = 65537;
  EXPECT_EQ(refusal(packet), Failure::Kind::group_memory);
}

TEST(Launch, refuses_grids_of_more_work_groups_than_can_be_counted) {
  constexpr std::uint32_t most = 0xffffffff;
  EXPECT_EQ(refusal(packet_of({most, most, 2}, {1, 1, 1})), Failure::Kind::invalid_dimensions);
  EXPECT_EQ(refusal(packet_of({1U << 31, 1U << 31, 4}, {1, 1, 1})), Failure::Kind::invalid_dimensions);  // 2^64
  EXPECT_EQ(refusal(packet_of({1U << 24, 1U << 24, 2}, {1, 1, 1})), Failure::Kind::invalid_dimensions);
  EXPECT_EQ(prepared(packet_of({1U << 24, 1U << 24, 1}, {1, 1, 1})).group_count(), std::uint64_t{1} << 48);
  const auto largest = packet_of({1U << 28, 1U << 28, 2}, {512, 1, 1});
  EXPECT_TRUE(
      std::holds_alternative<std::shared_ptr<Launch>>(Launch::make(kernel_of(nullptr, Waits::never), largest, {})));
}

TEST(Launch, refuses_descriptors_that_ask_for_more_user_sgprs_than_there_are) {
  for (std::uint32_t count = 0; count != 32; ++count) {
    KernelDescriptor descriptor;
    descriptor.rsrc2 = 1 | count << 1 | 7 << 7;  // and scratch, and all work-group ids
    const auto made = Launch::make(kernel_of(nullptr, Waits::never, descriptor), packet_of({1, 1, 1}, {1, 1, 1}), {});
    const auto* failure = std::get_if<Failure>(&made);
    ASSERT_EQ(failure != nullptr, count > 16) << count;
    if (failure == nullptr) continue;
    EXPECT_EQ(failure->kind, Failure::Kind::invalid_code_object);
    EXPECT_EQ(failure->text,
              "the kernel descriptor asks for " + std::to_string(count) + " user SGPRs; the limit is 16");
  }
}

TEST(Launch, needs_the_private_memory_of_packet_and_descriptor) {
  auto packet = packet_of({1, 1, 1}, {1, 1, 1});
  packet.private_segment_size = 64;
  KernelDescriptor descriptor;
  descriptor.private_segment_bytes = 100;
  EXPECT_EQ(prepared(packet, descriptor).private_segment_bytes(), 0U);  // it uses none, whatever the packet says
  descriptor.rsrc2 = 1;
  EXPECT_EQ(prepared(packet, descriptor).private_segment_bytes(), 100U);
  packet.private_segment_size = 128;
  EXPECT_EQ(prepared(packet, descriptor).private_segment_bytes(), 128U);
}

TEST(Launch, accepts_the_largest_work_group) {
  auto packet = packet_of({1024, 1024, 64}, {16, 16, 4});
  packet.group_segment_size = 65536;
  EXPECT_EQ(launch_of(kernel_of(nullptr, Waits::never), packet)->group_count(), 64U * 64 * 16);
}

TEST(Launch, work_groups_at_the_edges_of_the_grid_are_partial) {
  const auto launch = prepared(packet_of({10, 7, 5}, {4, 3, 2}));
  ASSERT_EQ(launch.group_count(), 3U * 3 * 3);
  std::uint64_t items = 0;
  for (std::uint64_t i = 0; i < launch.group_count(); ++i) items += launch.group(i).work_items();
  EXPECT_EQ(items, 10U * 7 * 5);
  for (std::uint64_t i = 0; i < launch.group_count(); ++i) {
    const WorkGroup group = launch.group(i);
    const std::uint32_t left_in_row = 3 - group.id[0];
    for (std::uint32_t distance = 1; distance <= left_in_row && i + distance < launch.group_count(); ++distance) {
      const WorkGroup behind = launch.group_behind(group, distance);
      EXPECT_EQ(behind.id, launch.group(i + distance).id) << i;
      EXPECT_EQ(behind.size, launch.group(i + distance).size) << i;
    }
  }
  const WorkGroup last = launch.group(26);
  EXPECT_EQ(last.id, (std::array<std::uint32_t, 3>{2, 2, 2}));
  EXPECT_EQ(last.size, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(launch.group(1).id, (std::array<std::uint32_t, 3>{1, 0, 0}));
  EXPECT_EQ(launch.group(3).id, (std::array<std::uint32_t, 3>{0, 1, 0}));
}

TEST(Launch, a_row_of_as_many_work_groups_as_there_can_be_ends) {
  const auto launch = prepared(packet_of({0xffffffff, 2, 1}, {1, 1, 1}));
  const WorkGroup last = launch.group(0xfffffffe);
  ASSERT_EQ(last.id, (std::array<std::uint32_t, 3>{0xfffffffe, 0, 0}));
  EXPECT_EQ(launch.group_behind(last).id, (std::array<std::uint32_t, 3>{0, 1, 0}));
}

TEST(Launch, a_grid_of_the_largest_sizes_does_not_overflow) {
  const auto launch = prepared(packet_of({0xffffffff, 1, 1}, {1024, 1, 1}));
  ASSERT_EQ(launch.group_count(), 1U << 22);
  EXPECT_EQ(launch.group((1U << 22) - 1).size[0], 1023U);
}

TEST(Launch, packs_work_item_ids_of_full_and_partial_work_groups) {
  KernelDescriptor descriptor;
  descriptor.rsrc2 = 2 << 11;
  const auto launch = prepared(packet_of({10, 7, 5}, {4, 3, 2}), descriptor);
  for (const std::uint64_t index : {0, 2, 26}) {
    const WorkGroup group = launch.group(index);
    std::array<std::uint32_t, 64> room{};
    const std::uint32_t* ids = launch.work_item_ids(group, 0, room);
    std::uint32_t lane = 0;
    for (std::uint32_t z = 0; z < group.size[2]; ++z)
      for (std::uint32_t y = 0; y < group.size[1]; ++y)
        for (std::uint32_t x = 0; x < group.size[0]; ++x) EXPECT_EQ(ids[lane++], x | y << 10 | z << 20);
  }
}

TEST(Launch, later_wavefronts_go_on_where_the_earlier_ones_ended) {
  KernelDescriptor descriptor;
  descriptor.rsrc2 = 1 << 11;
  const auto launch = prepared(packet_of({24, 8, 1}, {24, 8, 1}), descriptor);
  std::array<std::uint32_t, 64> room{};
  const std::uint32_t* ids = launch.work_item_ids(launch.group(0), 64, room);
  EXPECT_EQ(ids[0], 16U | 2U << 10);
  EXPECT_EQ(ids[63], 127U % 24 | 127U / 24 << 10);
}

TEST(Launch, a_kernel_that_wants_only_x_gets_no_other_id) {
  const auto launch = prepared(packet_of({4, 16, 1}, {4, 16, 1}));
  std::array<std::uint32_t, 64> room{};
  const std::uint32_t* ids = launch.work_item_ids(launch.group(0), 0, room);
  EXPECT_EQ(ids[63], 3U);
}

TEST(Launch, leaves_out_the_scratch_offset_where_flat_scratch_is_architected) {
  KernelDescriptor descriptor;
  descriptor.rsrc2 = 1 | 2 << 1 | 1 << 7;  // private segment, two user SGPRs, work-group id x
  for (const auto& [name, offset] : {std::pair{"gfx90a", 77U}, std::pair{"gfx1100", 0U}}) {
    const Target target{Architecture::find(name), 64};
    const PreparedLaunch launch(kernel_of(nullptr, Waits::never, descriptor, target), packet_of({1, 1, 1}, {1, 1, 1}),
                                {});
    std::array<std::uint32_t, WaveState::sgpr_words> sgprs{};
    launch.fill_sgprs(sgprs.data(), {});
    launch.set_group_id(sgprs.data(), launch.group(0));
    launch.set_wave_scratch_offset(sgprs.data(), 77);
    EXPECT_EQ(sgprs[3], offset) << name;
  }
}

TEST(Launch, has_the_ids_of_a_work_group_in_ttmps_on_rdna4) {
  const Architecture* rdna4 = Architecture::find("gfx1200");
  if (rdna4 == nullptr) GTEST_SKIP() << "the LLVM of this build does not know gfx1200";
  KernelDescriptor descriptor;
  descriptor.rsrc2 = 2 << 1 | 7 << 7;  // two user SGPRs, all work-group ids
  const auto kernel = kernel_of(nullptr, Waits::never, descriptor, Target{rdna4, 32});
  const PreparedLaunch launch(kernel, packet_of({3, 4, 5}, {1, 1, 1}), {});
  std::array<std::uint32_t, WaveState::sgpr_words> sgprs{};
  launch.fill_sgprs(sgprs.data(), {});
  launch.set_group_id(sgprs.data(), launch.group(2 + 3 * (3 + 4 * 4)));
  std::array<std::uint32_t, WaveState::sgpr_words> expected{};
  expected[WaveState::ttmp6 + 1] = 3 | 4 << 16;
  expected[WaveState::ttmp6 + 3] = 2;
  EXPECT_EQ(sgprs, expected);
  EXPECT_EQ(launch.group_id_place(), offsetof(WaveState, sgprs) + 4 * (WaveState::ttmp6 + 3));
}

TEST(Launch, refuses_grids_whose_work_groups_a_half_of_a_register_cannot_number) {
  const Architecture* rdna4 = Architecture::find("gfx1200");
  if (rdna4 == nullptr) GTEST_SKIP() << "the LLVM of this build does not know gfx1200";
  const auto kernel = kernel_of(nullptr, Waits::never, {}, Target{rdna4, 32});
  for (const std::uint32_t groups : {0x10000U, 0x10001U}) {
    const auto made = Launch::make(kernel, packet_of({1, groups, 1}, {1, 1, 1}), {});
    EXPECT_EQ(std::holds_alternative<Failure>(made), groups > 0x10000) << groups;
  }
}

TEST(Launch, lays_out_the_initial_sgprs_in_the_order_of_the_kernel_code_properties) {
  KernelDescriptor descriptor;
  descriptor.properties = 1 | 2 | 4 | 8 | 16 | 32 | 64;
  descriptor.rsrc2 = 1 | 16 << 1 | 1 << 7 | 1 << 9;  // scratch, 16 user SGPRs, work-group ids x and z
  auto packet = packet_of({2, 1, 6}, {1, 1, 2});
  packet.kernarg_address = std::bit_cast<void*>(std::uint64_t{0x1111222233334444});
  packet.private_segment_size = 48;
  QueueView queue;
  queue.queue_address = 0x5555666677778888;
  queue.dispatch_id = 0x100000007;
  queue.scratch_descriptor[1] = 0x80001234;
  queue.scratch_descriptor[3] = 0x00e00000;
  const auto launch = prepared(packet, descriptor, queue);

  std::array<std::uint32_t, WaveState::sgpr_words> sgprs{};
  const Scratch scratch{0xaaaabbbbcccc, 4096, 0, 0};
  launch.fill_sgprs(sgprs.data(), scratch);
  launch.set_group_id(sgprs.data(), launch.group(5));
  launch.set_wave_scratch_offset(sgprs.data(), 0x400);

  EXPECT_EQ(sgprs[0], 0xbbbbccccU);
  EXPECT_EQ(sgprs[1], 0x8000aaaaU);
  EXPECT_EQ(sgprs[2], 4096U);
  EXPECT_EQ(sgprs[3], 0x00e00000U);
  const auto dispatch_ptr = std::uint64_t{sgprs[5]} << 32 | sgprs[4];
  EXPECT_EQ(dispatch_ptr % 64, 0U);
  EXPECT_EQ(std::bit_cast<const hsa_kernel_dispatch_packet_t*>(dispatch_ptr)->private_segment_size, 48U);
  EXPECT_EQ(sgprs[6], 0x77778888U);
  EXPECT_EQ(sgprs[7], 0x55556666U);
  EXPECT_EQ(sgprs[8], 0x33334444U);
  EXPECT_EQ(sgprs[9], 0x11112222U);
  EXPECT_EQ(sgprs[10], 7U);
  EXPECT_EQ(sgprs[11], 1U);
  EXPECT_EQ(sgprs[12], 0xbbbbccccU);
  EXPECT_EQ(sgprs[13], 0xaaaaU);
  EXPECT_EQ(sgprs[14], 48U);
  // 16 user SGPRs: one of them is not used.
  EXPECT_EQ(sgprs[16], 1U);
  EXPECT_EQ(sgprs[17], 2U);
  EXPECT_EQ(sgprs[18], 0x400U);
}

TEST(Launch, tells_whether_wavefronts_have_their_ids_in_rows) {
  const auto has_rows = [](std::array<std::uint32_t, 3> grid, std::array<std::uint16_t, 3> group, std::uint32_t lanes) {
    return has_ids_in_rows(packet_of(grid, group), lanes);
  };
  EXPECT_TRUE(has_rows({1000, 1, 1}, {100, 1, 1}, 64));
  EXPECT_TRUE(has_rows({1000, 7, 3}, {100, 1, 1}, 64)) << "work-groups of one row";
  EXPECT_TRUE(has_rows({128, 7, 3}, {64, 4, 2}, 64));
  EXPECT_TRUE(has_rows({192, 7, 1}, {128, 2, 1}, 64)) << "the last work-group is 64 wide";
  EXPECT_FALSE(has_rows({190, 7, 1}, {128, 2, 1}, 64)) << "the last work-group is 62 wide";
  EXPECT_FALSE(has_rows({128, 8, 1}, {32, 8, 1}, 64));
  EXPECT_TRUE(has_rows({128, 8, 1}, {32, 8, 1}, 32));
  EXPECT_FALSE(has_rows({128, 8, 1}, {0, 8, 1}, 64));
}

TEST(Launch, refuses_work_groups_of_a_shape_that_its_kernel_does_not_expect) {
  const auto kernel = std::make_shared<const Kernel>(KernelDescriptor{}, Target{}, WaveStart{.has_ids_in_rows = true},
                                                     WaveCode{}, WaitsFor::nothing, nullptr);
  auto made = Launch::make(kernel, packet_of({64, 64, 1}, {16, 16, 1}), {});
  ASSERT_TRUE(std::holds_alternative<Failure>(made));
  EXPECT_EQ(std::get<Failure>(made).kind, Failure::Kind::invalid_dimensions);
  made = Launch::make(kernel, packet_of({64, 64, 1}, {64, 4, 1}), {});
  ASSERT_TRUE(std::holds_alternative<std::shared_ptr<Launch>>(made));
  EXPECT_TRUE(std::get<std::shared_ptr<Launch>>(made)->renew(packet_of({64, 64, 1}, {16, 16, 1}), {}));
}

TEST(Launch, renewed_for_another_packet_is_like_a_new_one) {
  KernelDescriptor descriptor;
  descriptor.properties = 8 | 16;                // kernarg pointer, dispatch id
  descriptor.rsrc2 = 4 << 1 | 1 << 7 | 2 << 11;  // 4 user SGPRs, work-group id x
  const auto packet_for = [](std::array<std::uint32_t, 3> grid, std::array<std::uint16_t, 3> group,
                             std::uint64_t kernargs) {
    auto packet = packet_of(grid, group);
    packet.kernarg_address = std::bit_cast<void*>(kernargs);
    packet.group_segment_size = grid[0];
    return packet;
  };
  const std::vector packets = {packet_for({10, 7, 5}, {4, 3, 2}, 0x1000), packet_for({10, 7, 5}, {4, 3, 2}, 0x2000),
                               packet_for({4096, 1, 1}, {64, 1, 1}, 0x3000), packet_for({9, 9, 1}, {8, 2, 1}, 0x4000)};
  auto renewed = prepared(packet_for({1, 1, 1}, {1, 1, 1}, 0), descriptor);
  std::uint64_t last_identity = renewed.identity();
  for (std::size_t i = 0; i != packets.size(); ++i) {
    QueueView queue;
    queue.dispatch_id = i;
    ASSERT_FALSE(renewed.renew(packets[i], queue));
    EXPECT_NE(std::exchange(last_identity, renewed.identity()), renewed.identity());
    const auto fresh = prepared(packets[i], descriptor, queue);
    ASSERT_EQ(renewed.group_count(), fresh.group_count());
    EXPECT_EQ(renewed.lds_bytes(), fresh.lds_bytes());
    for (std::uint64_t index = 0; index != fresh.group_count(); ++index) {
      EXPECT_EQ(renewed.group(index).id, fresh.group(index).id);
      EXPECT_EQ(renewed.group(index).size, fresh.group(index).size);
    }
    std::array<std::uint32_t, WaveState::sgpr_words> sgprs{};
    std::array<std::uint32_t, WaveState::sgpr_words> expected{};
    renewed.fill_sgprs(sgprs.data(), {});
    renewed.set_group_id(sgprs.data(), renewed.group(fresh.group_count() - 1));
    fresh.fill_sgprs(expected.data(), {});
    fresh.set_group_id(expected.data(), fresh.group(fresh.group_count() - 1));
    EXPECT_EQ(sgprs, expected);
  }
  const auto failure = renewed.renew(packet_of({2048, 1, 1}, {1025, 1, 1}), {});
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::work_group_size);
}

}  // namespace
}  // namespace softgpu::compute
