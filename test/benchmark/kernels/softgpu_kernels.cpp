// Solves a problem with the library on the soft GPU: its launches are recorded in one batch.
#include "times.hpp"

#include <fastdispatch/fastdispatch.hpp>
#ifdef HAS_FP8_PRODUCT
#include <fp8_product_code_object.hpp>
#endif
#include <peer_kernels_code_object.hpp>
#include <peer_kernels_not_optimized_code_object.hpp>

#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <type_traits>

namespace fd = fastdispatch;
using namespace kernel_problems;

namespace {

class SoftGpuKernels {
public:
  SoftGpuKernels(const Problem& problem, Compiled compiled)
      : problem_(problem), compiled_(compiled), gpu_(runtime_.gpu()), queue_(gpu_), batch_(gpu_) {
    if (!runtime_.on_softgpu()) throw std::runtime_error("this measures the soft GPU: set FASTDISPATCH_DEVICE=softgpu");
    for (const Buffer& buffer : problem.buffers) {
      memory_.emplace_back(gpu_, buffer.bytes.size());
      addresses_.push_back(memory_.back().data());
    }
  }

  [[nodiscard]] std::string name() const { return gpu_.name(); }

  void build() {
    module_ = fd::Module::load(gpu_, code_object());
    for (const Launch& launch : problem_.launches) {
      std::vector<fd::ParameterType> signature;
      std::vector<std::span<const std::byte>> values;
      for (const Argument& argument : launch.arguments) add(argument, signature, values);
      batch_.dispatch(module_->kernel(launch.kernel, signature),
                      fd::grid(launch.size[0], launch.size[1]).group(launch.group[0], launch.group[1]), values);
    }
  }

  void fill() {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      std::memcpy(memory_[i].data(), problem_.buffers[i].bytes.data(), memory_[i].size());
  }

  void launch() { queue_.submit(batch_).wait(); }

  [[nodiscard]] std::vector<Buffer> buffers() const {
    std::vector<Buffer> result;
    for (std::size_t i = 0; i < memory_.size(); ++i)
      result.push_back({problem_.buffers[i].element, {memory_[i].begin(), memory_[i].end()}});
    return result;
  }

private:
  [[nodiscard]] std::span<const std::byte> code_object() const {
    switch (compiled_) {
    case Compiled::optimized:
      return code_objects::peer_kernels();
    case Compiled::not_optimized:
      return code_objects::peer_kernels_not_optimized();
    case Compiled::for_gfx950:
#ifdef HAS_FP8_PRODUCT
      return code_objects::fp8_product();
#else
      throw std::runtime_error("hipcc does not compile for gfx950");
#endif
    }
    throw std::logic_error("no such way to compile");
  }

  void add(const Argument& argument, std::vector<fd::ParameterType>& signature,
           std::vector<std::span<const std::byte>>& values) const {
    const auto add_value = [&]<class T>(const T& value) {
      signature.push_back(fd::parameter_type<T>());
      values.push_back(std::as_bytes(std::span(&value, 1)));
    };
    if (const auto* buffer = std::get_if<BufferNumber>(&argument)) {
      signature.push_back(pointer_type(problem_.buffers[buffer->number].element));
      values.push_back(std::as_bytes(std::span(&addresses_[buffer->number], 1)));
    } else if (const auto* whole = std::get_if<std::int32_t>(&argument)) {
      add_value(*whole);
    } else if (const auto* natural = std::get_if<std::uint32_t>(&argument)) {
      add_value(*natural);
    } else {
      add_value(std::get<float>(argument));
    }
  }

  static fd::ParameterType pointer_type(Buffer::Element element) {
    switch (element) {
    case Buffer::Element::float32:
      return fd::parameter_type<float*>();
    case Buffer::Element::uint32:
      return fd::parameter_type<std::uint32_t*>();
    case Buffer::Element::uint8:
      return fd::parameter_type<std::uint8_t*>();
    }
    throw std::logic_error("no such element");
  }

  const Problem& problem_;
  Compiled compiled_;
  fd::Runtime runtime_;
  fd::Agent gpu_;
  fd::Queue queue_;
  std::deque<fd::PinnedBuffer<std::byte>> memory_;
  std::vector<const std::byte*> addresses_;
  std::optional<fd::Module> module_;
  fd::Batch batch_;
};

}  // namespace

int main(int argc, char** argv) { return print_times<SoftGpuKernels>(argc, argv, "softgpu_kernels"); }
