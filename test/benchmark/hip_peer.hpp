// The same empty kernel through the HIP runtime: launches in a stream, and a graph of launches.
#pragma once

#include <chrono>  // of g++ 16, does not take the macro __noinline__ that HIP before 7 defines
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <hip/hip_runtime_api.h>

/// Owns a stream and a graph of HIP's, in the process whose HSA runtime the library opened: libamdhip64 is opened after
/// it, and finds the same device.
class HipPeer {
public:
  /// Null if there is no HIP runtime, or if it can't do this; standard error tells the reason.
  static std::unique_ptr<HipPeer> open(std::span<const std::byte> code_object, std::size_t graph_nodes);
  ~HipPeer();
  HipPeer(const HipPeer&) = delete;
  HipPeer& operator=(const HipPeer&) = delete;

  void launch();        ///< one kernel in the stream
  void launch_graph();  ///< all of the graph's kernels, one after the other
  void wait();

private:
  // NOLINTBEGIN(readability-identifier-naming): HIP's names
  struct Functions {
    decltype(&::hipGetErrorString) GetErrorString;
    decltype(&::hipModuleLoadData) ModuleLoadData;
    decltype(&::hipModuleGetFunction) ModuleGetFunction;
    decltype(&::hipModuleUnload) ModuleUnload;
    decltype(&::hipModuleLaunchKernel) ModuleLaunchKernel;
    decltype(&::hipStreamCreateWithFlags) StreamCreateWithFlags;
    decltype(&::hipStreamDestroy) StreamDestroy;
    decltype(&::hipStreamSynchronize) StreamSynchronize;
    decltype(&::hipGraphCreate) GraphCreate;
    decltype(&::hipGraphAddKernelNode) GraphAddKernelNode;
    decltype(&::hipGraphInstantiate) GraphInstantiate;
    decltype(&::hipGraphLaunch) GraphLaunch;
    decltype(&::hipGraphExecDestroy) GraphExecDestroy;
    decltype(&::hipGraphDestroy) GraphDestroy;
  };
  // NOLINTEND(readability-identifier-naming)

  HipPeer(std::span<const std::byte> code_object, std::size_t graph_nodes);
  void make_graph(std::size_t nodes);
  void check(hipError_t status, const char* call) const;

  Functions hip_{};
  hipModule_t module_ = nullptr;
  hipFunction_t kernel_ = nullptr;
  hipStream_t stream_ = nullptr;
  hipGraph_t graph_ = nullptr;
  hipGraphExec_t executable_ = nullptr;
};
