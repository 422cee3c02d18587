#include "kernel_run.hpp"

#include <algorithm>
#include <cstddef>

#include <fastdispatch/batch.hpp>
#include <fastdispatch/copy.hpp>
#include <fastdispatch/device_buffer.hpp>
#include <fastdispatch/pinned_buffer.hpp>
#include <fastdispatch/queue.hpp>

namespace fd = fastdispatch;

namespace {

/// An array as it was, which the device copies, and as the kernel works on it.
struct BufferPair {
  fd::PinnedBuffer<std::byte> origin;
  fd::DeviceBuffer<std::byte> work;
  std::byte* address;  ///< of `work`: the kernel's argument

  BufferPair(fd::Agent gpu, std::span<const std::byte> contents)
      : origin(gpu, contents.size()), work(gpu, contents.size()), address(work.data()) {
    std::ranges::copy(contents, origin.begin());
  }
};

std::vector<BufferPair> buffers_of(fd::Agent gpu, std::span<const Argument> arguments) {
  std::vector<BufferPair> buffers;
  buffers.reserve(arguments.size());
  for (const Argument& argument : arguments)
    if (argument.kind == ArgumentText::Kind::array) buffers.emplace_back(gpu, argument.array.bytes);
  return buffers;
}

/// Each argument as the kernel takes it: the bytes of a value, of an address, or of a LocalMemory.
std::vector<std::span<const std::byte>> bytes_of_all(std::span<const Argument> arguments,
                                                     std::span<const BufferPair> buffers) {
  std::vector<std::span<const std::byte>> bytes;
  auto buffer = buffers.begin();
  for (const Argument& argument : arguments) {
    if (argument.kind == ArgumentText::Kind::array)
      bytes.push_back(std::as_bytes(std::span(&(buffer++)->address, 1)));
    else if (argument.kind == ArgumentText::Kind::local_memory)
      bytes.push_back(std::as_bytes(std::span(&argument.local, 1)));
    else
      bytes.emplace_back(argument.array.bytes);
  }
  return bytes;
}

}  // namespace

std::vector<std::chrono::nanoseconds> run_kernel(fd::Agent gpu, const fd::DynamicKernel& kernel, const fd::Grid& grid,
                                                 std::span<Argument> arguments, std::uint32_t count) {
  std::vector<BufferPair> buffers = buffers_of(gpu, arguments);
  fd::Batch batch(gpu);
  for (BufferPair& buffer : buffers) batch.copy(buffer.work, buffer.origin);
  batch.dispatch(kernel, grid, bytes_of_all(arguments, buffers));

  fd::Queue queue(gpu);
  std::vector<std::chrono::nanoseconds> times;
  for (std::uint32_t i = 0; i < count; ++i) {
    const fd::TimedSubmission submission = queue.submit_timed(batch);
    submission.wait();
    times.push_back(submission.kernel_time());
  }
  auto buffer = buffers.begin();
  for (Argument& argument : arguments)
    if (argument.kind == ArgumentText::Kind::array) fd::copy(std::span(argument.array.bytes), (buffer++)->work);
  return times;
}
