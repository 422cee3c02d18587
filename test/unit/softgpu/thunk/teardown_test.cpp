// The driver allocates nothing in the calls that ROCr makes while it shuts down. From 6.1 on, hsa_shut_down frees a
// mutex before it destroys its own queues, which lock the mutex. This goes well unless the mutex's memory has been
// allocated again by then.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include <gtest/gtest.h>
#include <hsa/amd_hsa_queue.h>
#include <hsakmt.h>

namespace {
thread_local int allocations = 0;
}  // namespace

// These replace the C++ runtime's. They are not inlined, because gcc would warn of memory from one family freed by the
// other.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace softgpu::thunk {
namespace {

constexpr HSAuint32 gpu = 1;

template <class Function, class... Arguments>
void succeed(Function* function, Arguments... arguments) {
  EXPECT_EQ(function(arguments...), HSAKMT_STATUS_SUCCESS);
}

/// Memory that the GPU knows, with a queue in it.
class TestQueue {
public:
  explicit TestQueue(HSA_QUEUE_TYPE type) {
    HsaMemFlags flags{};
    flags.ui32.HostAccess = 1;
    succeed(hsaKmtAllocMemory, HSAuint32{0}, ring_bytes, flags, &ring_);
    HSAuint64 address = 0;
    succeed(hsaKmtMapMemoryToGPU, ring_, ring_bytes, &address);
    resource_.Queue_read_ptr_aql = const_cast<HSAuint64*>(&indices_.read_dispatch_id);
    resource_.Queue_write_ptr_aql = const_cast<HSAuint64*>(&indices_.write_dispatch_id);
    succeed(hsaKmtCreateQueue, gpu, type, HSAuint32{100}, HSA_QUEUE_PRIORITY_NORMAL, ring_, ring_bytes,
            static_cast<HsaEvent*>(nullptr), &resource_);
  }
  void destroy() {
    succeed(hsaKmtDestroyQueue, resource_.QueueId);
    succeed(hsaKmtUnmapMemoryToGPU, ring_);
    succeed(hsaKmtFreeMemory, ring_, ring_bytes);
  }

private:
  static constexpr HSAuint64 ring_bytes = 4096;

  void* ring_ = nullptr;
  amd_queue_t indices_{};
  HsaQueueResource resource_{};
};

TEST(Teardown, AllocatesNothing) {
  succeed(hsaKmtOpenKFD);
  std::vector<std::unique_ptr<TestQueue>> queues;
  for (int i = 0; i < 5; ++i)
    for (const HSA_QUEUE_TYPE type : {HSA_QUEUE_COMPUTE_AQL, HSA_QUEUE_SDMA})
      queues.push_back(std::make_unique<TestQueue>(type));
  std::array<HsaEvent*, 600> events{};
  for (HsaEvent*& event : events) {
    HsaEventDescriptor descriptor{};
    descriptor.EventType = HSA_EVENTTYPE_SIGNAL;
    succeed(hsaKmtCreateEvent, &descriptor, false, false, &event);
  }

  allocations = 0;
  for (const auto& queue : queues) queue->destroy();
  for (HsaEvent* event : events) {
    succeed(hsaKmtSetEvent, event);
    succeed(hsaKmtDestroyEvent, event);
  }
  EXPECT_EQ(allocations, 0);
  succeed(hsaKmtCloseKFD);
}

}  // namespace
}  // namespace softgpu::thunk
