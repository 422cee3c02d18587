// Streams that wait for each other through events, times between events, and callbacks to the host.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "check.hpp"

namespace {

constexpr int count = 1 << 16;

__global__ void scale_and_add(std::uint32_t* values, std::uint32_t factor, std::uint32_t summand) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] = values[i] * factor + summand;
}

__global__ void spin(std::uint64_t* sink, unsigned rounds) {
  std::uint64_t value = threadIdx.x;
  for (unsigned i = 0; i < rounds; ++i) value = value * 6364136223846793005ULL + 1;
  sink[threadIdx.x] = value;
}

/// Two streams in turn on one array: only the events keep the order.
void events_order_streams() {
  std::uint32_t* values = nullptr;
  CHECK(hipMalloc(&values, count * sizeof(*values)));
  hipStream_t streams[2];
  hipEvent_t done[2];
  for (int i = 0; i < 2; ++i) {
    CHECK(hipStreamCreateWithFlags(&streams[i], hipStreamNonBlocking));
    CHECK(hipEventCreateWithFlags(&done[i], hipEventDisableTiming));
  }
  CHECK(hipMemsetAsync(values, 0, count * sizeof(*values), streams[1]));
  CHECK(hipEventRecord(done[1], streams[1]));
  std::uint32_t expected = 0;
  for (std::uint32_t round = 0; round < 50; ++round) {
    const int mine = round % 2;
    CHECK(hipStreamWaitEvent(streams[mine], done[1 - mine], 0));
    scale_and_add<<<count / 256, 256, 0, streams[mine]>>>(values, 3, round);
    CHECK(hipEventRecord(done[mine], streams[mine]));
    expected = expected * 3 + round;
  }
  std::vector<std::uint32_t> result(count);
  CHECK(hipMemcpyAsync(result.data(), values, count * sizeof(*values), hipMemcpyDeviceToHost, streams[1]));
  CHECK(hipStreamSynchronize(streams[1]));
  for (const std::uint32_t value : result) EXPECT(value == expected);
  EXPECT(hipStreamQuery(streams[0]) == hipSuccess && hipEventQuery(done[0]) == hipSuccess);
  for (int i = 0; i < 2; ++i) {
    CHECK(hipEventDestroy(done[i]));
    CHECK(hipStreamDestroy(streams[i]));
  }
  CHECK(hipFree(values));
}

/// The time between events covers the kernel between them, grows with it, and lies within what the host measures.
void event_times() {
  std::uint64_t* sink = nullptr;
  CHECK(hipMalloc(&sink, 64 * sizeof(*sink)));
  hipEvent_t begin = nullptr;
  hipEvent_t end = nullptr;
  CHECK(hipEventCreate(&begin));
  CHECK(hipEventCreate(&end));
  double on_host = 0;
  const auto milliseconds = [&](unsigned rounds) {
    const auto start = std::chrono::steady_clock::now();
    CHECK(hipEventRecord(begin, nullptr));
    spin<<<1, 64>>>(sink, rounds);
    CHECK(hipEventRecord(end, nullptr));
    CHECK(hipEventSynchronize(end));
    on_host = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    float time = 0;
    CHECK(hipEventElapsedTime(&time, begin, end));
    return time;
  };
  milliseconds(1);  // the kernel is loaded
  const float brief = milliseconds(1);
  const float lengthy = milliseconds(4'000'000);
  EXPECT(brief >= 0);
  EXPECT(lengthy > 1 && lengthy < 1.01 * on_host);
  CHECK(hipEventDestroy(begin));
  CHECK(hipEventDestroy(end));
  CHECK(hipFree(sink));
}

struct Observation {
  std::uint32_t* number;  // pinned, written by kernels
  std::uint32_t seen[2] = {};
  std::atomic<int> count{0};
};

void observe(hipStream_t, hipError_t status, void* data) {
  auto& observation = *static_cast<Observation*>(data);
  CHECK(status);
  observation.seen[observation.count++] = *observation.number;
}

/// A callback runs after what was enqueued before it, and before what comes after.
void callbacks() {
  Observation observation;
  CHECK(hipHostMalloc(&observation.number, sizeof(std::uint32_t)));
  *observation.number = 0;
  hipStream_t stream = nullptr;
  CHECK(hipStreamCreate(&stream));
  scale_and_add<<<1, 1, 0, stream>>>(observation.number, 1, 5);
  CHECK(hipStreamAddCallback(stream, observe, &observation, 0));
  scale_and_add<<<1, 1, 0, stream>>>(observation.number, 2, 1);
  CHECK(hipStreamAddCallback(stream, observe, &observation, 0));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(observation.count == 2 && observation.seen[0] == 5 && observation.seen[1] == 11);
  CHECK(hipStreamDestroy(stream));
  CHECK(hipHostFree(observation.number));
}

}  // namespace

int main() {
  events_order_streams();
  event_times();
  callbacks();
}
