// Errors as ROCr reports them: by a queue's callback, and memory faults by the system event handler.
#include <csignal>
#include <numeric>

#include <gtest/gtest.h>

#include "rocr.hpp"

namespace softgpu_test {
namespace {

constexpr std::uint64_t wild = 0x7000'0000'1000;

/// Takes ROCr's memory fault, upon which ROCr would abort otherwise. One in the life of a Rocr.
class FaultHandler {
public:
  FaultHandler() {
    const auto on_event = [](const hsa_amd_event_t* event, void* data) {
      if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT)
        __atomic_store_n(static_cast<std::uint64_t*>(data), event->memory_fault.virtual_address, __ATOMIC_RELEASE);
      return HSA_STATUS_SUCCESS;
    };
    address = 0;
    CHECKED(hsa_amd_register_system_event_handler, on_event, static_cast<void*>(&address));
  }
  [[nodiscard]] static bool hears_of(std::uint64_t expected) {
    return eventually([&] { return __atomic_load_n(&address, __ATOMIC_ACQUIRE) == expected; });
  }

private:
  static inline std::uint64_t address;  // ROCr's thread may be late
};

class ErrorTest : public ::testing::Test {
protected:
  Rocr rocr;
  Kernels kernels{rocr};
  Buffer<unsigned> data{rocr, rocr.device, 64};
};

TEST_F(ErrorTest, AnUnsupportedInstructionIsRefusedBeforeAnythingRan) {
  data[0] = 7;
  Queue queue(rocr);
  queue.dispatch(kernels["unsupported"], {argument(data.data())}, {});
  EXPECT_EQ(queue.error(), static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION));
  EXPECT_EQ(data[0], 7U);
}

TEST_F(ErrorTest, GlobalWaveSyncNeedsACooperativeQueue) {
  Queue queue(rocr);
  queue.dispatch(kernels["meet"], {}, {});
  EXPECT_EQ(queue.error(), static_cast<hsa_status_t>(HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION));
}

TEST_F(ErrorTest, AGridWhoseWorkGroupsCouldNeverMeetIsRefused) {
  Queue queue(rocr);
  queue.dispatch(kernels["meet"], {}, {.groups = 104 * 32 + 1, .group_size = 64});
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
}

TEST_F(ErrorTest, ATrapIsAnException) {
  Queue queue(rocr);
  queue.dispatch(kernels["trap"], {}, {});
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_EXCEPTION);
}

TEST_F(ErrorTest, AnEmptyGridIsRefused) {
  Queue queue(rocr);
  queue.dispatch(kernels["count"], {argument(data.data())}, {.groups = 0});
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS);
}

TEST_F(ErrorTest, ATooLargeWorkGroupIsRefused) {
  Queue queue(rocr);
  queue.dispatch(kernels["count"], {argument(data.data())}, {.group_size = 1025});
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

TEST_F(ErrorTest, TooMuchGroupMemoryIsRefused) {
  Queue queue(rocr);
  queue.dispatch(kernels["count"], {argument(data.data())}, {.extra_group_bytes = 65537});
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_INVALID_ALLOCATION);
}

TEST_F(ErrorTest, AKernelObjectThatIsNoneIsRefused) {
  Queue queue(rocr);
  queue.dispatch({.object = 0, .private_bytes = 0, .group_bytes = 0}, {}, {});
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
}

TEST_F(ErrorTest, AnUnknownPacketIsRefused) {
  Queue queue(rocr);
  const std::uint64_t nothing[8] = {};
  queue.submit(nothing, HSA_PACKET_TYPE_AGENT_DISPATCH, 0);
  EXPECT_EQ(queue.error(), HSA_STATUS_ERROR_INVALID_PACKET_FORMAT);
}

TEST_F(ErrorTest, AfterAnErrorOtherQueuesGoOn) {
  Queue broken(rocr);
  Queue healthy(rocr);
  broken.dispatch(kernels["trap"], {}, {});
  ASSERT_EQ(broken.error(), HSA_STATUS_ERROR_EXCEPTION);
  data[0] = 0;
  const Signal done;
  healthy.dispatch(kernels["count"], {argument(data.data())}, {.groups = 5, .completion = &done});
  ASSERT_TRUE(done.completes());
  EXPECT_EQ(data[0], 5U);
}

TEST_F(ErrorTest, AWildAddressIsAMemoryFaultWithThatAddress) {
  const FaultHandler handler;
  Queue queue(rocr);
  queue.dispatch(kernels["write_to"], {wild}, {});
  EXPECT_TRUE(handler.hears_of(wild));

  // ROCr takes one memory fault a process: a second one reaches its queue.
  Queue second(rocr);
  second.dispatch(kernels["write_to"], {wild}, {});
  EXPECT_EQ(second.error(), static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION));
}

TEST_F(ErrorTest, AMemoryFaultLeavesWhatOtherQueuesAreAtAlone) {
  const FaultHandler handler;
  constexpr std::uint32_t n = 64 * 1024;
  const Buffer<unsigned> flags(rocr, rocr.system, 2);
  const Buffer<unsigned> in(rocr, rocr.system, n);
  const Buffer<unsigned> out(rocr, rocr.system, n);
  std::iota(in.data(), in.data() + n, 0U);
  std::fill_n(out.data(), n, 0U);
  flags[0] = flags[1] = data[0] = 0;
  Queue broken(rocr);
  Queue waiting(rocr);
  Queue busy(rocr);

  // One queue has a kernel that runs until it is told to end, and a kernel behind it. Another queue goes from kernel to
  // kernel.
  const Signal squared;
  waiting.dispatch(kernels["set"], {argument(&flags[0])}, {.group_size = 1});
  waiting.dispatch(kernels["wait_for"], {argument(&flags[1])}, {.groups = 2});
  waiting.dispatch(kernels["square"], {argument(in.data()), argument(out.data()), n},
                   {.groups = n / 64, .flags = barrier_bit, .completion = &squared});
  ASSERT_TRUE(eventually([&] { return __atomic_load_n(&flags[0], __ATOMIC_ACQUIRE) == 1; }));
  ASSERT_TRUE(eventually([&] { return ROCR(hsa_queue_load_read_index_scacquire)(waiting.get()) == 2; }));
  const Signal counted;
  constexpr unsigned rounds = 200;
  for (unsigned round = 1; round <= rounds; ++round) {
    if (round == rounds / 2) broken.dispatch(kernels["write_to"], {wild}, {});
    busy.dispatch(kernels["count"], {argument(data.data())},
                  {.groups = 100, .flags = barrier_bit, .completion = round == rounds ? &counted : nullptr});
  }

  ASSERT_TRUE(handler.hears_of(wild));
  EXPECT_TRUE(counted.completes());
  EXPECT_EQ(data[0], rounds * 100);
  EXPECT_EQ(squared.load(), 1);
  __atomic_store_n(&flags[1], 1U, __ATOMIC_RELEASE);
  ASSERT_TRUE(squared.completes());
  for (std::uint32_t i = 0; i < n; ++i) ASSERT_EQ(out[i], i * i) << i;
}

TEST_F(ErrorTest, ACopyToAWildAddressIsAMemoryFaultAfterWhichOtherQueuesGoOn) {
  const FaultHandler handler;
  const Buffer<unsigned> words(rocr, rocr.system, 64);
  std::fill_n(words.data(), 64, 3U);
  data[0] = 0;
  Queue queue(rocr);
  const Signal never;
  CHECKED(hsa_amd_memory_async_copy, reinterpret_cast<void*>(wild), rocr.gpus[0],
          static_cast<const void*>(words.data()), rocr.host, words.bytes(), 0U, nullptr, never.get());
  EXPECT_TRUE(handler.hears_of(wild));
  EXPECT_EQ(never.load(), 1);

  const Signal counted;
  queue.dispatch(kernels["count"], {argument(data.data())}, {.groups = 5, .completion = &counted});
  ASSERT_TRUE(counted.completes());
  const Signal copied;  // by the copy queue of the other direction
  CHECKED(hsa_amd_memory_async_copy, static_cast<void*>(words.data()), rocr.host, static_cast<const void*>(data.data()),
          rocr.gpus[0], sizeof(unsigned), 0U, nullptr, copied.get());
  ASSERT_TRUE(copied.completes());
  EXPECT_EQ(words[0], 5U);
}

TEST(CopyDeathTest, WithoutAHandlerRocrAbortsAfterACopyToAWildAddress) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto copy = [] {
    const Rocr rocr;
    const Buffer<unsigned> words(rocr, rocr.system, 64);
    const Signal never;
    CHECKED(hsa_amd_memory_async_copy, reinterpret_cast<void*>(wild), rocr.gpus[0],
            static_cast<const void*>(words.data()), rocr.host, words.bytes(), 0U, nullptr, never.get());
    static_cast<void>(never.completes());
  };
  EXPECT_EXIT(copy(), testing::KilledBySignal(SIGABRT),
              "softgpu: copy queue [0-9]+ stops: address 0x700000001000 is not mapped; accessed by a copy of 256 bytes "
              "from 0x[0-9a-f]+ to 0x700000001000 .*\nMemory access fault by GPU node");
}

}  // namespace
}  // namespace softgpu_test
