// Kernel arguments in the agent's memory: where they lie, and the fences of the packets that read them.
#include <cstdint>
#include <cstring>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/batch_parameter.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/kernel.hpp"
#include "fastdispatch/queue.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr std::uint64_t device_pool = 21;
constexpr std::uint64_t kernarg_pool = 12;

class DeviceKernargs : public ::testing::Test {
protected:
  const Packet& packet(std::size_t i) { return hsa.queue().ring[i]; }
  static unsigned number(const Packet& packet) {
    unsigned value = 0;
    std::memcpy(&value, reinterpret_cast<const std::byte*>(packet.word64(10)), sizeof(value));
    return value;
  }
  Queue device_queue() { return Queue(hsa.agent(), {.kernarg_memory = KernargMemory::device}); }
  // Whether the packet's arguments lie in the latest allocation, and whether this allocation is in the agent's memory.
  bool are_in_last_allocation(const Packet& packet) {
    const auto [pool, memory] = hsa.last_allocation();
    const auto base = reinterpret_cast<std::uintptr_t>(memory);
    return pool.handle == device_pool && packet.word64(10) >= base && packet.word64(10) < base + (1U << 20U);
  }

  MockHsa hsa;
  detail::KernelInfo info{.name = "kernel",
                          .object = 0x1000,
                          .kernarg_size = 4,
                          .max_group_size = 512,
                          .max_group_segment_size = 65536,
                          .arguments = {{0, 4}},
                          .implicit_arguments = {}};
  Kernel<void(unsigned)> kernel{info};
};

constexpr Ordering within_agent{BarrierBit::set, FenceScope::agent, FenceScope::agent};

TEST_F(DeviceKernargs, are_off_by_default) {
  const Queue queue(hsa.agent());
  EXPECT_EQ(hsa.last_allocation().pool.handle, kernarg_pool);
}

TEST_F(DeviceKernargs, of_a_dispatch_make_it_acquire_at_system_scope) {
  Queue queue = device_queue();
  queue.dispatch(kernel, grid(64), {.ordering = within_agent}, 7U);
  EXPECT_TRUE(are_in_last_allocation(packet(0)));
  EXPECT_EQ(number(packet(0)), 7U);
  EXPECT_EQ(packet(0).header().ordering, (Ordering{BarrierBit::set, FenceScope::system, FenceScope::agent}));
}

TEST_F(DeviceKernargs, leave_the_scopes_of_other_dispatches_alone) {
  Queue queue(hsa.agent());
  queue.dispatch(kernel, grid(64), {.ordering = within_agent}, 7U);
  EXPECT_EQ(packet(0).header().ordering, within_agent);
}

TEST_F(DeviceKernargs, of_a_block_of_its_callers_make_a_dispatch_acquire_at_system_scope) {
  Queue queue(hsa.agent());
  const KernargBlock block(hsa.agent(), 4, KernargMemory::device);
  EXPECT_EQ(hsa.last_allocation().pool.handle, device_pool);
  queue.dispatch(kernel, grid(64), {.ordering = within_agent, .kernargs = &block}, 7U);
  EXPECT_EQ(packet(0).word64(10), block.address());
  EXPECT_EQ(packet(0).header().ordering.acquire, FenceScope::system);
}

TEST_F(DeviceKernargs, have_a_line_behind_them_that_is_written_last) {
  const KernargBlock block(hsa.agent(), 100, KernargMemory::device);
  std::vector<std::byte> before(128, std::byte{0xab});
  std::copy(before.begin(), before.end(), block.bytes().data());
  unsigned behind = 0;
  std::memcpy(block.bytes().data() + 128, &behind, sizeof(behind));
  block.complete_writes();
  std::memcpy(&behind, block.bytes().data() + 128, sizeof(behind));
  EXPECT_EQ(behind, 1U);
  EXPECT_EQ(std::memcmp(block.bytes().data(), before.data(), before.size()), 0);
}

TEST_F(DeviceKernargs, of_a_packet_of_its_callers_make_it_acquire_at_system_scope) {
  Queue queue = device_queue();
  KernargSlot slot = queue.acquire_kernargs(4);
  const Packet dispatch =
      encode(KernelDispatch{.ordering = within_agent, .grid = grid(64), .kernarg_address = slot.address()});
  queue.submit(dispatch, std::move(slot));
  EXPECT_EQ(packet(0).header().ordering.acquire, FenceScope::system);
}

TEST_F(DeviceKernargs, of_a_batch_are_acquired_at_system_scope_by_its_first_dispatch) {
  for (const Fences fences : {Fences::conservative, Fences::minimal, Fences::derived}) {
    Queue queue = device_queue();
    DeviceBuffer<unsigned> data(hsa.agent(), 64);
    Batch batch(hsa.agent(), {.fences = fences});
    for (unsigned i = 0; i < 3; ++i) {
      batch.dispatch(kernel, grid(64), i);
      batch.touches(read_write(data));
    }
    queue.submit(batch);
    ASSERT_TRUE(are_in_last_allocation(packet(0)));
    EXPECT_EQ(packet(0).header().ordering.acquire, FenceScope::system);
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(number(packet(i)), i);
  }
}

TEST_F(DeviceKernargs, of_a_batch_may_be_parameters) {
  Queue queue = device_queue();
  Batch batch(hsa.agent());
  const auto value = batch.parameter<unsigned>();
  batch.dispatch(kernel, grid(64), value);
  for (unsigned i = 0; i < 3; ++i) queue.submit(batch, set(value, i));
  for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(number(packet(i)), i);
  EXPECT_TRUE(are_in_last_allocation(packet(2)));
}

TEST_F(DeviceKernargs, are_refused_where_the_host_does_not_see_the_memory) {
  hsa.properties().host_visible_memory = false;
  EXPECT_THAT(error_of([&] { device_queue(); }), AllOf(HasSubstr("gfx90a"), HasSubstr("resizable BAR")));
  EXPECT_THAT(error_of([&] { KernargBlock(hsa.agent(), 64, KernargMemory::device); }),
              HasSubstr("KernargMemory::host"));
  EXPECT_EQ(hsa.allocations(), 0U);
}

TEST_F(DeviceKernargs, are_refused_on_a_gpu_of_which_nobody_knows_that_a_read_brings_them_in) {
  hsa.properties().name = "gfx1030";
  hsa.properties().isa = "amdgcn-amd-amdhsa--gfx1030";
  EXPECT_THAT(error_of([&] { device_queue(); }),
              AllOf(HasSubstr("gfx1030"), HasSubstr("only gfx90a, gfx94x and gfx950")));
  hsa.properties().isa = "amdgcn-amd-amdhsa--gfx942:sramecc+:xnack-";
  EXPECT_NO_THROW(device_queue());
}

}  // namespace
}  // namespace fastdispatch::test
