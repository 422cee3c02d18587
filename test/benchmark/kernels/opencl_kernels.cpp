// Solves a problem with OpenCL: its launches are enqueued one after the other, then waited for once.
#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#include "times.hpp"

#include <CL/opencl.hpp>

#include <fstream>
#include <map>
#include <sstream>

// Memory that PoCL keeps to the end is not our leak. The sanitizer's library looks for the symbol.
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() { return "detect_leaks=0"; }  // NOLINT

using namespace kernel_problems;

namespace {

std::string text_of(const std::string& source) {
  const std::string name = KERNELS_FOLDER "/" + source + ".cl";
  std::ifstream file(name);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) throw std::runtime_error("cannot read " + name);
  return text.str();
}

/// OpenCL's exceptions name a call and a number.
template <class Call>
auto told(Call&& call) {
  try {
    return call();
  } catch (const cl::Error& error) {
    throw std::runtime_error(std::string(error.what()) + ": OpenCL error " + std::to_string(error.err()));
  }
}

class OpenclKernels {
public:
  OpenclKernels(const Problem& problem, Compiled compiled) : problem_(problem), compiled_(compiled) {
    told([&] {
      device_ = cl::Device::getDefault();
      context_ = cl::Context(device_);
      queue_ = cl::CommandQueue(context_, device_);
      for (const Buffer& buffer : problem.buffers)
        memory_.emplace_back(context_, CL_MEM_READ_WRITE, buffer.bytes.size());
    });
  }

  [[nodiscard]] std::string name() const {
    return told([&] { return cl::Platform(device_.getInfo<CL_DEVICE_PLATFORM>()).getInfo<CL_PLATFORM_NAME>(); });
  }

  void build() {
    const std::string text = text_of("opencl_prelude") + text_of(problem_.source);
    told([&] {
      cl::Program program(context_, text);
      program.build(compiled_ == Compiled::optimized ? "-cl-std=CL1.2" : "-cl-std=CL1.2 -cl-opt-disable");
      for (const Launch& launch : problem_.launches)
        if (!kernels_.contains(launch.kernel)) kernels_[launch.kernel] = cl::Kernel(program, launch.kernel.c_str());
    });
  }

  void fill() {
    told([&] {
      for (std::size_t i = 0; i < memory_.size(); ++i)
        queue_.enqueueWriteBuffer(memory_[i], CL_TRUE, 0, problem_.buffers[i].bytes.size(),
                                  problem_.buffers[i].bytes.data());
    });
  }

  void launch() {
    told([&] {
      for (const Launch& launch : problem_.launches) {
        cl::Kernel& kernel = kernels_.at(launch.kernel);
        for (cl_uint i = 0; i < launch.arguments.size(); ++i) set(kernel, i, launch.arguments[i]);
        queue_.enqueueNDRangeKernel(kernel, {}, {launch.size[0], launch.size[1]}, {launch.group[0], launch.group[1]});
      }
      queue_.finish();
    });
  }

  [[nodiscard]] std::vector<Buffer> buffers() {
    std::vector<Buffer> result(problem_.buffers);
    told([&] {
      for (std::size_t i = 0; i < memory_.size(); ++i)
        queue_.enqueueReadBuffer(memory_[i], CL_TRUE, 0, result[i].bytes.size(), result[i].bytes.data());
    });
    return result;
  }

private:
  void set(cl::Kernel& kernel, cl_uint index, const Argument& argument) {
    std::visit(
        [&]<class T>(const T& value) {
          if constexpr (std::is_same_v<T, BufferNumber>)
            kernel.setArg(index, memory_[value.number]);
          else
            kernel.setArg(index, value);
        },
        argument);
  }

  const Problem& problem_;
  Compiled compiled_;
  cl::Device device_;
  cl::Context context_;
  cl::CommandQueue queue_;
  std::vector<cl::Buffer> memory_;
  std::map<std::string, cl::Kernel> kernels_;
};

}  // namespace

int main(int argc, char** argv) { return print_times<OpenclKernels>(argc, argv, "opencl_kernels"); }
