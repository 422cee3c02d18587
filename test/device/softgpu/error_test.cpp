// Errors as ROCr reports them: by a queue's callback, and memory faults by the system event handler.
#include <gtest/gtest.h>

#include "rocr.hpp"

namespace softgpu_test {
namespace {

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
  static std::uint64_t fault_address;
  fault_address = 0;
  const auto on_event = [](const hsa_amd_event_t* event, void* /*data*/) {
    if (event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT)
      __atomic_store_n(&fault_address, event->memory_fault.virtual_address, __ATOMIC_RELEASE);
    return HSA_STATUS_SUCCESS;
  };
  CHECKED(hsa_amd_register_system_event_handler, on_event, nullptr);
  constexpr std::uint64_t wild = 0x7000'0000'1000;
  Queue queue(rocr);
  queue.dispatch(kernels["write_to"], {wild}, {});
  EXPECT_TRUE(eventually([] { return __atomic_load_n(&fault_address, __ATOMIC_ACQUIRE) == wild; }));

  // ROCr takes one memory fault a process: a second one reaches its queue.
  Queue second(rocr);
  second.dispatch(kernels["write_to"], {wild}, {});
  EXPECT_EQ(second.error(), static_cast<hsa_status_t>(HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION));
}

}  // namespace
}  // namespace softgpu_test
