// Device properties, memory of every kind, and copies in every direction.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <vector>

#include "check.hpp"

__device__ std::uint32_t variable = 7;  // HIP finds it by its name

namespace {

constexpr std::size_t count = 100'000;
constexpr std::size_t bytes = count * sizeof(std::uint32_t);

__global__ void increment(std::uint32_t* values, std::size_t length) {
  const std::size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) ++values[i];
}

void increment_on_device(std::uint32_t* values) {
  increment<<<(count + 255) / 256, 256>>>(values, count);
  CHECK(hipGetLastError());
  CHECK(hipDeviceSynchronize());
}

bool counts_from(const std::uint32_t* values, std::uint32_t first) {
  for (std::uint32_t i = 0; i < count; ++i)
    if (values[i] != first + i) return false;
  return true;
}

void device_properties() {
  int devices = 0;
  CHECK(hipGetDeviceCount(&devices));
  EXPECT(devices == 1);
  hipDeviceProp_t properties{};
  CHECK(hipGetDeviceProperties(&properties, 0));
  const char* chosen = std::getenv("SOFTGPU_ARCH");
  const std::string_view architecture = chosen == nullptr ? "gfx90a" : chosen;
  EXPECT(std::string_view(properties.gcnArchName).starts_with(architecture));
  const bool is_cdna = architecture.starts_with("gfx9");
  EXPECT(properties.warpSize == (is_cdna ? 64 : 32));
  // A multiprocessor of RDNA is a pair of compute units.
  EXPECT(properties.multiProcessorCount == (is_cdna ? 104 : 52));
  EXPECT(properties.sharedMemPerBlock == (architecture == "gfx950" ? 163840 : 65536));
  EXPECT(properties.maxThreadsPerBlock == 1024);
  EXPECT(properties.canMapHostMemory == 1);
  std::size_t free = 0;
  std::size_t total = 0;
  CHECK(hipMemGetInfo(&free, &total));
  EXPECT(total == properties.totalGlobalMem && free <= total);
}

/// Host to device, device to device, device to host, host to host; of plain memory and of pinned memory.
void copies(std::uint32_t* source, std::uint32_t* target) {
  std::uint32_t* first = nullptr;
  std::uint32_t* second = nullptr;
  CHECK(hipMalloc(&first, bytes));
  CHECK(hipMalloc(&second, bytes));
  std::iota(source, source + count, 5U);
  CHECK(hipMemcpy(first, source, bytes, hipMemcpyHostToDevice));
  increment_on_device(first);
  CHECK(hipMemcpy(second, first, bytes, hipMemcpyDeviceToDevice));
  CHECK(hipMemcpy(target, second, bytes, hipMemcpyDefault));
  EXPECT(counts_from(target, 6));

  std::fill_n(target, count, 0U);
  CHECK(hipMemcpyAsync(first, source, bytes, hipMemcpyHostToDevice, nullptr));
  CHECK(hipMemcpyAsync(target, first, bytes, hipMemcpyDeviceToHost, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  EXPECT(counts_from(target, 5));

  std::fill_n(target, count, 0U);
  CHECK(hipMemcpy(target, source, bytes / 2, hipMemcpyHostToHost));
  CHECK(hipMemcpyAsync(target + count / 2, source + count / 2, bytes - bytes / 2, hipMemcpyHostToHost, nullptr));
  CHECK(hipStreamSynchronize(nullptr));
  EXPECT(counts_from(target, 5));

  // Rows of 40 of 50 numbers each.
  CHECK(hipMemset(second, 0, bytes));
  CHECK(hipMemcpy2D(second, 200, source, 200, 160, 100, hipMemcpyHostToDevice));
  CHECK(hipMemcpy(target, second, bytes, hipMemcpyDeviceToHost));
  for (std::uint32_t row = 0; row < 100; ++row)
    EXPECT(target[row * 50 + 39] == 5 + row * 50 + 39 && target[row * 50 + 40] == 0);
  CHECK(hipFree(first));
  CHECK(hipFree(second));
}

/// Sizes around the pieces of fill kernels and copy engines.
void fills() {
  std::uint8_t* device = nullptr;
  CHECK(hipMalloc(&device, 5000));
  for (const std::size_t length : {16U, 63U, 1024U, 4099U}) {
    std::vector<std::uint8_t> host(5000);
    CHECK(hipMemset(device, 0x11, 5000));
    CHECK(hipMemset(device + 1, 0xa5, length));
    CHECK(hipMemcpy(host.data(), device, host.size(), hipMemcpyDeviceToHost));
    EXPECT(host[0] == 0x11 && host[length + 1] == 0x11);
    EXPECT(static_cast<std::size_t>(std::count(host.begin() + 1, host.end(), 0xa5)) == length);
  }
  CHECK(hipMemsetD32(device, 0x12345678, 1000));
  std::uint32_t last = 0;
  CHECK(hipMemcpy(&last, device + 3996, sizeof(last), hipMemcpyDeviceToHost));
  EXPECT(last == 0x12345678);
  CHECK(hipFree(device));
}

/// Host memory that kernels reach by its own address.
void host_memory() {
  std::uint32_t* pinned = nullptr;
  CHECK(hipHostMalloc(&pinned, bytes, hipHostMallocMapped));
  std::iota(pinned, pinned + count, 0U);
  increment_on_device(pinned);
  EXPECT(counts_from(pinned, 1));
  hipPointerAttribute_t attributes{};
  CHECK(hipPointerGetAttributes(&attributes, pinned));
#if HIP_VERSION_MAJOR >= 6
  const hipMemoryType type = attributes.type;
#else
  const hipMemoryType type = attributes.memoryType;
#endif
  EXPECT(type == hipMemoryTypeHost && attributes.devicePointer != nullptr);
  copies(pinned, std::vector<std::uint32_t>(count).data());
  CHECK(hipHostFree(pinned));

  // Not unregistered: HIP 5.2 aborts if a GPU sees the memory at the host's address, as the soft GPU does.
  static std::uint32_t registered[count];
  std::iota(registered, registered + count, 0U);
  CHECK(hipHostRegister(registered, bytes, hipHostRegisterDefault));
  void* address = nullptr;
  CHECK(hipHostGetDevicePointer(&address, registered, 0));
  increment_on_device(static_cast<std::uint32_t*>(address));
  EXPECT(counts_from(registered, 1));

  std::uint32_t* managed = nullptr;
  CHECK(hipMallocManaged(&managed, bytes));
  std::iota(managed, managed + count, 0U);
  increment_on_device(managed);
  EXPECT(counts_from(managed, 1));
  CHECK(hipFree(managed));
}

__global__ void square_variable() { variable *= variable; }

void symbols() {
  std::uint32_t value = 9;
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(variable), &value, sizeof(value)));
  square_variable<<<1, 1>>>();
  CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(variable), sizeof(value)));
  EXPECT(value == 81);
}

void too_much_memory() {
  void* address = nullptr;
  EXPECT(hipMalloc(&address, std::size_t{1} << 50) == hipErrorOutOfMemory);
  CHECK(hipMalloc(&address, 1 << 20));
  CHECK(hipFree(address));
}

}  // namespace

int main() {
  device_properties();
  std::vector<std::uint32_t> source(count);
  std::vector<std::uint32_t> target(count);
  copies(source.data(), target.data());
  fills();
  host_memory();
  symbols();
  too_much_memory();
}
