#include "dispatch/device/system_events.hpp"

#include <cstring>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/device/runtime_state.hpp"
#include "expect_error.hpp"
#include "fastdispatch/device_buffer.hpp"
#include "fastdispatch/queue.hpp"
#include "mock_hsa.hpp"

namespace fastdispatch::test {
namespace {

using detail::take_system_event;
using testing::AllOf;
using testing::HasSubstr;

class SystemEvent : public testing::Test {
protected:
  /// An event of a kind that the installed header may not know: an agent and two numbers.
  static hsa_amd_event_t event(int kind, hsa_agent_t agent, std::uint32_t first = 0, std::uint32_t second = 0) {
    hsa_amd_event_t result{};
    std::memcpy(&result.event_type, &kind, sizeof kind);
    auto* data = reinterpret_cast<char*>(&result.memory_fault);
    std::memcpy(data, &agent, sizeof agent);
    std::memcpy(data + sizeof agent, &first, sizeof first);
    std::memcpy(data + sizeof agent + sizeof first, &second, sizeof second);
    return result;
  }
  std::string failure_after(const hsa_amd_event_t& event) {
    Queue queue(runtime.gpu_views.front());
    EXPECT_TRUE(take_system_event(event, runtime.gpus));
    return error_of([&] { queue.barrier(); });
  }

  MockHsa hsa;
  detail::HsaLibrary library{.api = hsa.api(), .path = "mock"};
  detail::RuntimeState runtime{library};
  hsa_agent_t gpu = runtime.gpus.front()->handle;
};

TEST_F(SystemEvent, of_a_gpu_that_was_reset_stops_its_queues_with_the_cause) {
  EXPECT_THAT(failure_after(event(1, gpu, 1, 1)), AllOf(HasSubstr("gfx90a was reset"), HasSubstr("the GPU hung")));
  EXPECT_THAT(failure_after(event(1, gpu, 1, 2)), HasSubstr("an error that could not be corrected"));
  EXPECT_THAT(failure_after(event(1, gpu)), HasSubstr("the cause is not known"));
}

TEST_F(SystemEvent, of_a_memory_fault_tells_the_buffer_that_the_address_is_near) {
  const DeviceBuffer<std::byte> cells(runtime.gpu_views.front(), 4096, "cells");
  hsa_amd_event_t fault = event(HSA_AMD_GPU_MEMORY_FAULT_EVENT, gpu);
  fault.memory_fault.virtual_address = reinterpret_cast<std::uintptr_t>(cells.data()) + 4096 + 64;
  fault.memory_fault.fault_reason_mask = HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT;
  EXPECT_THAT(failure_after(fault), HasSubstr(", 64 bytes behind the end of buffer 'cells' of 4096 bytes: no page"));
}

TEST_F(SystemEvent, of_an_unknown_kind_stops_all_queues_and_not_the_process) {
  EXPECT_THAT(failure_after(event(17, {0})), AllOf(HasSubstr("an event of kind 17"), HasSubstr("gfx90a")));
}

TEST_F(SystemEvent, about_an_agent_that_is_not_known_is_left_to_others) {
  EXPECT_FALSE(take_system_event(event(0, {77}), runtime.gpus));
  EXPECT_FALSE(take_system_event(event(1, {77}), runtime.gpus));
}

TEST_F(SystemEvent, of_the_shutdown_is_known_without_a_look_at_agents) {
  EXPECT_TRUE(detail::is_shutdown(event(3, {0})));
  EXPECT_FALSE(detail::is_shutdown(event(0, gpu)));
}

}  // namespace
}  // namespace fastdispatch::test
