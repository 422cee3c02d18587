// Managed memory: advice, prefetches, and counters that host and GPU increment at the same time.
#include <atomic>
#include <cstdint>
#include <numeric>

#include "check.hpp"

namespace {

constexpr std::size_t count = 100'000;
constexpr std::size_t bytes = count * sizeof(std::uint32_t);

__global__ void increment(std::uint32_t* values) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) ++values[i];
}

__global__ void count_up(unsigned* counter, unsigned times) {
  for (unsigned i = 0; i != times; ++i) atomicAdd_system(counter, 1U);
}

int attribute_of(const void* memory, hipMemRangeAttribute attribute) {
  int value = -99;
  CHECK(hipMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes));
  return value;
}

void memory_that_moves() {
  std::uint32_t* values = nullptr;
  CHECK(hipMallocManaged(&values, bytes));
  std::iota(values, values + count, 0U);
  CHECK(hipMemAdvise(values, bytes, hipMemAdviseSetPreferredLocation, 0));
  CHECK(hipMemPrefetchAsync(values, bytes, 0, nullptr));
  increment<<<(count + 255) / 256, 256>>>(values);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
  EXPECT(attribute_of(values, hipMemRangeAttributePreferredLocation) == 0);
  EXPECT(attribute_of(values, hipMemRangeAttributeLastPrefetchLocation) == 0);
  CHECK(hipMemPrefetchAsync(values, bytes, hipCpuDeviceId, nullptr));
  CHECK(hipDeviceSynchronize());
  EXPECT(attribute_of(values, hipMemRangeAttributeLastPrefetchLocation) == hipCpuDeviceId);
  for (std::uint32_t i = 0; i != count; ++i) EXPECT(values[i] == i + 1);
  CHECK(hipFree(values));
}

void counter_of_host_and_gpu() {
  constexpr unsigned times = 1000;
  constexpr unsigned work_items = 16 * 64;
  constexpr unsigned own = 100'000;
  unsigned* counter = nullptr;
  CHECK(hipMallocManaged(&counter, sizeof *counter));
  *counter = 0;
  count_up<<<work_items / 64, 64>>>(counter, times);
  CHECK(hipGetLastError());
  for (unsigned i = 0; i != own; ++i) std::atomic_ref(*counter).fetch_add(1);
  CHECK(hipDeviceSynchronize());
  EXPECT(*counter == work_items * times + own);
  CHECK(hipFree(counter));
}

}  // namespace

int main() {
  hipDeviceProp_t properties{};
  CHECK(hipGetDeviceProperties(&properties, 0));
  EXPECT(properties.managedMemory == 1 && properties.concurrentManagedAccess == 1);
  memory_that_moves();
  counter_of_host_and_gpu();
}
