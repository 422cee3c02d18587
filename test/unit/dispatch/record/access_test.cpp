#include "fastdispatch/access.hpp"

#include <array>
#include <cstdint>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/encode/batch_image.hpp"
#include "dispatch/record/batch_recording.hpp"
#include "expect_error.hpp"
#include "fastdispatch/batch.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/pinned_buffer.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The accesses of dispatches with these arguments, found from which dispatch waits for which.
class Accesses : public ::testing::Test {
protected:
  using Changes = Kernel<void(unsigned*)>;
  using Reads = Kernel<void(const unsigned*)>;

  template <class Signature, class Argument>
  void dispatch(const Kernel<Signature>& kernel, Argument&& argument) {
    batch.dispatch(kernel, grid(64), argument);
  }

  // Whether each dispatch behind the first waits for the dispatches before it.
  std::vector<bool> waits() {
    std::vector<bool> result;
    for (const Packet& packet : image().stream.packets) {
      if (packet.header().type == PacketType::kernel_dispatch)
        result.push_back(packet.header().ordering.barrier == BarrierBit::set);
    }
    result.erase(result.begin());
    return result;
  }

  detail::BatchImage image() { return make_image(detail::recording_of(batch), nullptr, kernargs); }

  FenceScope first_release() { return image().stream.packets.front().header().ordering.release; }

  // An allocation of the GPU's that only HSA knows.
  void know(std::uintptr_t base, std::size_t size) {
    hsa_amd_pointer_info_t known{};
    known.type = HSA_EXT_POINTER_TYPE_HSA;
    known.agentBaseAddress = known.hostBaseAddress = pointer(base);
    known.sizeInBytes = size;
    known.agentOwner = hsa.agent().handle();
    hsa.know(known);
  }
  static unsigned* pointer(std::uintptr_t address) {
    return reinterpret_cast<unsigned*>(address);  // NOLINT(performance-no-int-to-ptr): never followed
  }

  MockHsa hsa;
  detail::KernargChunks kernargs{hsa.agent(), KernargMemory::host};
  const detail::KernelInfo info{.name = "kernel",
                                .object = 0x1000,
                                .kernarg_size = 8,
                                .max_group_size = 1024,
                                .max_group_segment_size = 65536,
                                .arguments = {{0, 8}},
                                .implicit_arguments = {}};
  const Changes changes{info};
  const Reads reads{info};
  DeviceBuffer<unsigned> a{hsa.agent(), 64};
  DeviceBuffer<unsigned> b{hsa.agent(), 64};
  Batch batch{hsa.agent(), {.fences = Fences::derived}};
};

TEST_F(Accesses, of_buffers_are_what_the_parameter_allows) {
  dispatch(changes, a);
  dispatch(changes, b);
  dispatch(reads, a);
  dispatch(reads, a);
  dispatch(changes, a);
  EXPECT_THAT(waits(), ElementsAre(false, true, false, true));
}

TEST_F(Accesses, are_narrowed_by_words) {
  dispatch(changes, read(a));
  dispatch(changes, read(a));
  dispatch(changes, write(a));
  dispatch(changes, read_write(b));
  dispatch(changes, read(a));
  EXPECT_THAT(waits(), ElementsAre(false, true, false, true));
}

TEST_F(Accesses, are_narrowed_to_parts) {
  dispatch(changes, write(a, {.first = 0, .count = 32}));
  dispatch(changes, write(a, {.first = 32, .count = 32}));
  dispatch(changes, a.subspan(0, 1));
  dispatch(changes, a.subspan(32, 1));
  EXPECT_THAT(waits(), ElementsAre(false, true, false));
  EXPECT_THAT(error_of([&] { dispatch(changes, write(a, {.first = 32, .count = 33})); }), HasSubstr("not inside"));
}

TEST_F(Accesses, hand_the_kernel_the_whole_buffer) {
  std::array<std::byte, 8> kernarg{};
  changes.write_arguments(kernarg.data(), write(a, {.first = 32, .count = 32}));
  EXPECT_EQ(*reinterpret_cast<unsigned**>(kernarg.data()), a.data());
  changes.write_arguments(kernarg.data(), write(MemoryView(b)));
  EXPECT_EQ(*reinterpret_cast<unsigned**>(kernarg.data()), b.data());
}

TEST_F(Accesses, through_pointers_are_to_the_whole_allocation) {
  know(0x10000, 0x1000);
  know(0x20000, 0x1000);
  dispatch(changes, pointer(0x10000));
  dispatch(changes, pointer(0x20000));
  dispatch(changes, a);
  dispatch(changes, pointer(0x20ffc));
  EXPECT_THAT(waits(), ElementsAre(false, false, true));
}

TEST_F(Accesses, through_pointers_can_be_narrowed) {
  know(0x10000, 0x1000);
  dispatch(changes, write(pointer(0x10000), {.first = 0, .count = 4}));
  dispatch(changes, write(pointer(0x10000), {.first = 4, .count = 4}));
  EXPECT_THAT(waits(), ElementsAre(false));
}

TEST_F(Accesses, through_pointers_that_hsa_does_not_know_are_to_all_memory) {
  dispatch(changes, a);
  dispatch(reads, pointer(0x10000));
  dispatch(reads, b);
  dispatch(changes, b);
  EXPECT_THAT(waits(), ElementsAre(true, false, true));
}

TEST_F(Accesses, through_pointers_where_hsa_fails_are_to_all_memory) {
  know(0x10000, 0x1000);
  hsa.fail("amd_pointer_info", HSA_STATUS_ERROR_OUT_OF_RESOURCES);
  dispatch(changes, a);
  dispatch(reads, pointer(0x10000));
  EXPECT_THAT(waits(), ElementsAre(true));
}

TEST_F(Accesses, through_null_pointers_are_none) {
  dispatch(changes, a);
  dispatch(changes, nullptr);
  EXPECT_THAT(waits(), ElementsAre(false));
}

TEST_F(Accesses, through_parameters_are_to_all_memory) {
  dispatch(changes, a);
  dispatch(reads, batch.parameter<const unsigned*>());
  dispatch(reads, a);
  EXPECT_THAT(waits(), ElementsAre(true, false));
}

TEST_F(Accesses, to_locked_memory_are_one_whatever_the_address) {
  hsa_amd_pointer_info_t locked{};
  locked.type = HSA_EXT_POINTER_TYPE_LOCKED;
  locked.agentBaseAddress = pointer(0x10000);
  locked.hostBaseAddress = pointer(0x50000);
  locked.sizeInBytes = 0x1000;
  hsa.know(locked);
  dispatch(changes, write(pointer(0x50000), {.first = 0, .count = 1}));
  dispatch(changes, write(pointer(0x10004), {.first = 0, .count = 1}));
  dispatch(changes, write(pointer(0x10000), {.first = 0, .count = 1}));
  EXPECT_THAT(waits(), ElementsAre(false, true));
}

TEST_F(Accesses, to_the_hosts_memory_reach_the_system) {
  PinnedBuffer<unsigned> host(hsa.agent(), 16);
  dispatch(changes, host);
  dispatch(reads, host);
  EXPECT_EQ(first_release(), FenceScope::system);
  batch.clear();
  dispatch(changes, a);
  dispatch(reads, a);
  EXPECT_EQ(first_release(), FenceScope::agent);
}

TEST_F(Accesses, beyond_the_arguments_are_stated_afterwards) {
  dispatch(changes, a);
  dispatch(changes, b);
  batch.touches(read(a, {.first = 0, .count = 1}));
  EXPECT_THAT(waits(), ElementsAre(true));
}

TEST_F(Accesses, of_no_dispatch_are_an_error) {
  EXPECT_THAT(error_of([&] { batch.touches(read(a)); }), HasSubstr("the last step is none"));
}

TEST_F(Accesses, of_other_fences_are_not_looked_up) {
  Batch other(hsa.agent());
  other.dispatch(changes, grid(64), pointer(0x10000));
  EXPECT_EQ(hsa.calls("amd_pointer_info"), 0);
}

}  // namespace
}  // namespace fastdispatch::test
