#include "hip_peer.hpp"

#include <array>
#include <cstring>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include <dlfcn.h>

namespace {

template <class Function>
void look_up_hip(void* library, const char* name, Function& function) {
  void* const symbol = ::dlsym(library, name);
  if (symbol == nullptr) throw std::runtime_error(std::string("the HIP runtime has no ") + name);
  std::memcpy(&function, &symbol, sizeof symbol);
}

}  // namespace

std::unique_ptr<HipPeer> HipPeer::open(std::span<const std::byte> code_object, std::size_t graph_nodes) {
  try {
    return std::unique_ptr<HipPeer>(new HipPeer(code_object, graph_nodes));
  } catch (const std::exception& error) {
    std::cerr << "benchmarks: no comparison with HIP: " << error.what() << "\n";
    return nullptr;
  }
}

HipPeer::HipPeer(std::span<const std::byte> code_object, std::size_t graph_nodes) {
  void* const library = ::dlopen(HIP_LIBRARY, RTLD_NOW | RTLD_LOCAL);  // never closed: HIP is not made for that
  if (library == nullptr) throw std::runtime_error(::dlerror());
#define LOOK_UP(name) look_up_hip(library, "hip" #name, hip_.name)
  LOOK_UP(GetErrorString);
  LOOK_UP(ModuleLoadData);
  LOOK_UP(ModuleGetFunction);
  LOOK_UP(ModuleUnload);
  LOOK_UP(ModuleLaunchKernel);
  LOOK_UP(StreamCreateWithFlags);
  LOOK_UP(StreamDestroy);
  LOOK_UP(StreamSynchronize);
  LOOK_UP(GraphCreate);
  LOOK_UP(GraphAddKernelNode);
  LOOK_UP(GraphInstantiate);
  LOOK_UP(GraphLaunch);
  LOOK_UP(GraphExecDestroy);
  LOOK_UP(GraphDestroy);
#undef LOOK_UP
  check(hip_.ModuleLoadData(&module_, code_object.data()), "hipModuleLoadData");
  check(hip_.ModuleGetFunction(&kernel_, module_, "empty"), "hipModuleGetFunction");
  check(hip_.StreamCreateWithFlags(&stream_, hipStreamNonBlocking), "hipStreamCreateWithFlags");
  make_graph(graph_nodes);
  check(hip_.GraphInstantiate(&executable_, graph_, nullptr, nullptr, 0), "hipGraphInstantiate");
  launch_graph();
  wait();
}

// Node by node: HIP 5.2 does not capture hipModuleLaunchKernel.
void HipPeer::make_graph(std::size_t nodes) {
  void* data = nullptr;
  std::uint32_t numbers[] = {0, 0, 1};
  std::array<void*, 4> arguments{&data, &numbers[0], &numbers[1], &numbers[2]};
  hipKernelNodeParams parameters{};
  parameters.func = kernel_;
  parameters.gridDim = {1, 1, 1};
  parameters.blockDim = {64, 1, 1};
  parameters.kernelParams = arguments.data();
  check(hip_.GraphCreate(&graph_, 0), "hipGraphCreate");
  hipGraphNode_t node = nullptr;
  for (std::size_t i = 0; i < nodes; ++i) {
    const hipGraphNode_t before = node;
    check(hip_.GraphAddKernelNode(&node, graph_, &before, i == 0 ? 0 : 1, &parameters), "hipGraphAddKernelNode");
  }
}

HipPeer::~HipPeer() {
  static_cast<void>(hip_.GraphExecDestroy(executable_));
  static_cast<void>(hip_.GraphDestroy(graph_));
  static_cast<void>(hip_.StreamDestroy(stream_));
  static_cast<void>(hip_.ModuleUnload(module_));
}

void HipPeer::launch() {
  void* data = nullptr;
  std::uint32_t numbers[] = {0, 0, 1};
  std::array<void*, 4> arguments{&data, &numbers[0], &numbers[1], &numbers[2]};
  check(hip_.ModuleLaunchKernel(kernel_, 1, 1, 1, 64, 1, 1, 0, stream_, arguments.data(), nullptr),
        "hipModuleLaunchKernel");
}

void HipPeer::launch_graph() { check(hip_.GraphLaunch(executable_, stream_), "hipGraphLaunch"); }
void HipPeer::wait() { check(hip_.StreamSynchronize(stream_), "hipStreamSynchronize"); }

void HipPeer::check(hipError_t status, const char* call) const {
  if (status != hipSuccess) throw std::runtime_error(std::string(call) + ": " + hip_.GetErrorString(status));
}
