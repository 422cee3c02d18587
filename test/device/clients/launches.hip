// The ways to launch a kernel: dynamic LDS, by module and name, in a graph; and HIP's occupancy of a kernel.
#include <cstdint>
#include <vector>

#include "check.hpp"

namespace {

constexpr unsigned group = 256;
constexpr unsigned groups = 40;
constexpr unsigned count = group * groups;

/// Reverses each work-group's numbers through LDS whose size the launch says.
__global__ void reverse(std::uint32_t* values) {
  extern __shared__ std::uint32_t numbers[];
  std::uint32_t* mine = values + blockIdx.x * blockDim.x;
  numbers[threadIdx.x] = mine[threadIdx.x];
  __syncthreads();
  mine[threadIdx.x] = numbers[blockDim.x - 1 - threadIdx.x];
}

struct Array {
  Array() {
    CHECK(hipMalloc(&values, count * sizeof(*values)));
    std::vector<std::uint32_t> numbers(count);
    for (unsigned i = 0; i < count; ++i) numbers[i] = i;
    CHECK(hipMemcpy(values, numbers.data(), count * sizeof(*values), hipMemcpyHostToDevice));
  }
  ~Array() { static_cast<void>(hipFree(values)); }
  std::vector<std::uint32_t> read() const {
    std::vector<std::uint32_t> numbers(count);
    CHECK(hipMemcpy(numbers.data(), values, count * sizeof(*values), hipMemcpyDeviceToHost));
    return numbers;
  }
  bool is_reversed() const {
    const auto numbers = read();
    for (unsigned i = 0; i < count; ++i)
      if (numbers[i] != i / group * group + group - 1 - i % group) return false;
    return true;
  }
  std::uint32_t* values = nullptr;
};

void dynamic_lds() {
  const Array array;
  reverse<<<groups, group, group * sizeof(std::uint32_t)>>>(array.values);
  CHECK(hipGetLastError());
  EXPECT(array.is_reversed());
}

void modules(const char* file) {
  hipModule_t module = nullptr;
  CHECK(hipModuleLoad(&module, file));
  hipFunction_t function = nullptr;
  EXPECT(hipModuleGetFunction(&function, module, "absent") == hipErrorNotFound);
  CHECK(hipModuleGetFunction(&function, module, "fill"));
  const Array array;
  struct {
    std::uint32_t* values;
    std::uint32_t first;
  } packed{array.values, 17};
  std::size_t size = sizeof(packed);
  void* config[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size,
                    HIP_LAUNCH_PARAM_END};
  CHECK(hipModuleLaunchKernel(function, groups, 1, 1, group, 1, 1, 0, nullptr, nullptr, config));
  const auto numbers = array.read();
  for (unsigned i = 0; i < count; ++i) EXPECT(numbers[i] == 17 + i);
  CHECK(hipModuleUnload(module));
}

/// A graph captured from a stream and completed by hand, launched three times: an odd number of reversals.
void graphs() {
  const Array array;
  const Array copy;
  hipStream_t stream = nullptr;
  CHECK(hipStreamCreate(&stream));
  CHECK(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal));
  reverse<<<groups, group, group * sizeof(std::uint32_t), stream>>>(array.values);
  CHECK(hipMemcpyAsync(copy.values, array.values, count * sizeof(std::uint32_t), hipMemcpyDeviceToDevice, stream));
  hipGraph_t graph = nullptr;
  CHECK(hipStreamEndCapture(stream, &graph));
  hipGraphNode_t nodes[2];
  std::size_t node_count = 2;
  CHECK(hipGraphGetNodes(graph, nodes, &node_count));
  EXPECT(node_count == 2);
  int calls = 0;
  hipHostNodeParams call{};
  call.fn = [](void* data) { ++*static_cast<int*>(data); };
  call.userData = &calls;
  hipGraphNode_t host_node = nullptr;
  CHECK(hipGraphAddHostNode(&host_node, graph, nodes, node_count, &call));
  hipGraphExec_t executable = nullptr;
  CHECK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int i = 0; i < 3; ++i) CHECK(hipGraphLaunch(executable, stream));
  CHECK(hipStreamSynchronize(stream));
  EXPECT(array.is_reversed() && copy.is_reversed() && calls == 3);
  CHECK(hipGraphExecDestroy(executable));
  CHECK(hipGraphDestroy(graph));
  CHECK(hipStreamDestroy(stream));
}

void occupancy() {
  int per_unit = 0;
  const auto* function = reinterpret_cast<const void*>(reverse);
  CHECK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&per_unit, function, group, 32768));
  hipDeviceProp_t properties{};
  CHECK(hipGetDeviceProperties(&properties, 0));
  EXPECT(per_unit == static_cast<int>(properties.sharedMemPerBlock / 32768));
  int least_groups = 0;
  int best_group = 0;
  CHECK(hipOccupancyMaxPotentialBlockSize(&least_groups, &best_group, function, 0, 0));
  int units = 0;
  CHECK(hipDeviceGetAttribute(&units, hipDeviceAttributeMultiprocessorCount, 0));
  // One a unit or two: on RDNA, HIP 5.7 says sometimes one and sometimes two.
  EXPECT(best_group == 1024 && least_groups >= units && least_groups % units == 0);
  hipFuncAttributes attributes{};
  CHECK(hipFuncGetAttributes(&attributes, function));
  EXPECT(attributes.maxThreadsPerBlock == 1024 && attributes.sharedSizeBytes == 0 && attributes.numRegs > 0);
}

void refused_launches() {
  const Array array;
  reverse<<<1, 2048>>>(array.values);
  EXPECT(hipGetLastError() != hipSuccess);
  reverse<<<1, 64, 1 << 20>>>(array.values);
  EXPECT(hipGetLastError() != hipSuccess);
  dynamic_lds();
}

}  // namespace

/// Its argument is the code object of module.hip.
int main(int count_of_arguments, char** arguments) {
  EXPECT(count_of_arguments == 2);
  dynamic_lds();
  modules(arguments[1]);
  graphs();
  occupancy();
  refused_launches();
}
