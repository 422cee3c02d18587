// Cooperative launches: work-groups that wait for each other in the middle of a kernel.
#include <cstdint>
#include <vector>

#include "check.hpp"

#include <hip/hip_cooperative_groups.h>  // after HIP's own header, which it needs

namespace {

namespace groups_of = cooperative_groups;

constexpr unsigned group = 128;

/// Sums the other work-groups' numbers of the round before: each round needs the whole round before.
__global__ void sum_in_rounds(std::uint32_t* sums, unsigned rounds) {
  auto grid = groups_of::this_grid();
  const unsigned groups = gridDim.x;
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint32_t* before = sums + round % 2 * groups;
    std::uint32_t* after = sums + (round + 1) % 2 * groups;
    if (threadIdx.x == group - 1) {  // of the second wavefront
      std::uint32_t sum = blockIdx.x;
      for (unsigned i = 0; i < groups; ++i) sum += before[i] * 3;
      after[blockIdx.x] = sum;
    }
    grid.sync();
  }
}

void grid_sync(unsigned groups, unsigned rounds) {
  std::uint32_t* sums = nullptr;
  CHECK(hipMalloc(&sums, 2 * groups * sizeof(*sums)));
  CHECK(hipMemset(sums, 0, 2 * groups * sizeof(*sums)));
  void* arguments[] = {&sums, &rounds};
  CHECK(hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_in_rounds), dim3(groups), dim3(group), arguments, 0,
                                   nullptr));
  std::vector<std::uint32_t> results(2 * groups);
  CHECK(hipMemcpy(results.data(), sums, results.size() * sizeof(*sums), hipMemcpyDeviceToHost));
  std::vector<std::uint32_t> expected(2 * groups);
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint32_t* before = expected.data() + round % 2 * groups;
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < groups; ++i) sum += before[i] * 3;
    for (unsigned i = 0; i < groups; ++i) expected[(round + 1) % 2 * groups + i] = sum + i;
  }
  EXPECT(results == expected);
  CHECK(hipFree(sums));
}

/// A grid that is larger than the GPU can hold at once could never meet.
void too_large_a_grid() {
  int per_unit = 0;
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, sum_in_rounds, group, 0));
  hipDeviceProp_t properties{};
  CHECK(hipGetDeviceProperties(&properties, 0));
  std::uint32_t* sums = nullptr;
  unsigned rounds = 1;
  void* arguments[] = {&sums, &rounds};
  const unsigned too_many = static_cast<unsigned>(per_unit * properties.multiProcessorCount) + 1;
  EXPECT(hipLaunchCooperativeKernel(reinterpret_cast<void*>(sum_in_rounds), dim3(too_many), dim3(group), arguments, 0,
                                    nullptr) == hipErrorCooperativeLaunchTooLarge);
}

/// Waits until `flag` has been set by another kernel.
__global__ void wait_for(std::uint32_t* flag, std::uint32_t* counter) {
  if (threadIdx.x == 0)
    while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT) == 0) __builtin_amdgcn_s_sleep(1);
  __syncthreads();
  atomicAdd(counter, 1U);
}

__global__ void set(std::uint32_t* flag) { __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT); }

/// More work-groups wait than there are threads of the host for them, and the kernel that they wait for gets its turn.
void kernels_that_wait_for_a_later_one() {
  constexpr unsigned groups = 300;
  std::uint32_t* memory = nullptr;
  CHECK(hipMalloc(&memory, 2 * sizeof(*memory)));
  CHECK(hipMemset(memory, 0, 2 * sizeof(*memory)));
  CHECK(hipDeviceSynchronize());
  hipStream_t streams[2];
  for (hipStream_t& stream : streams) CHECK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
  wait_for<<<groups, group, 0, streams[0]>>>(memory, memory + 1);
  set<<<1, 1, 0, streams[1]>>>(memory);
  for (const hipStream_t stream : streams) {
    CHECK(hipStreamSynchronize(stream));
    CHECK(hipStreamDestroy(stream));
  }
  std::uint32_t results[2];
  CHECK(hipMemcpy(results, memory, sizeof results, hipMemcpyDeviceToHost));
  EXPECT(results[0] == 1 && results[1] == groups * group);
  CHECK(hipFree(memory));
}

}  // namespace

int main() {
  int supported = 0;
  CHECK(hipDeviceGetAttribute(&supported, hipDeviceAttributeCooperativeLaunch, 0));
  EXPECT(supported == 1);
  grid_sync(1, 3);
  grid_sync(7, 50);
  grid_sync(200, 20);
  too_large_a_grid();
  kernels_that_wait_for_a_later_one();
}
