#include "copy_measurements.hpp"

#include "report.hpp"
#include "samples.hpp"

#include <empty_code_object.hpp>
#include <fastdispatch/fastdispatch.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace fd = fastdispatch;

namespace {

constexpr std::size_t kibibyte = 1024;
constexpr std::size_t mebibyte = 1024 * kibibyte;
constexpr std::array sizes = {64 * kibibyte, 256 * kibibyte, mebibyte,      4 * mebibyte,
                              16 * mebibyte, 64 * mebibyte,  256 * mebibyte};
constexpr std::array block_sizes = {64 * kibibyte, 128 * kibibyte, 256 * kibibyte, 512 * kibibyte,
                                    mebibyte,      2 * mebibyte,   4 * mebibyte};
constexpr std::size_t bytes_for_blocks = 64 * mebibyte;

enum class Direction { up, down };

std::string in_words(std::size_t bytes) {
  return bytes >= mebibyte ? std::to_string(bytes / mebibyte) + " MiB" : std::to_string(bytes / kibibyte) + " KiB";
}

std::string series_of(Direction direction, const char* way, std::size_t bytes) {
  return std::string(direction == Direction::up ? "upload_" : "download_") + way + "_" + std::to_string(bytes);
}

std::string blocks_series(std::size_t block) { return "upload_blocks_of_" + std::to_string(block); }

// Memory of the host that was written to and never locked: newly allocated, so that its pages are not known anywhere.
class Pageable {
public:
  explicit Pageable(std::size_t bytes) : memory_(std::make_unique_for_overwrite<std::byte[]>(bytes)), bytes_(bytes) {
    std::memset(memory_.get(), 1, bytes);
  }
  [[nodiscard]] std::span<std::byte> span() const { return {memory_.get(), bytes_}; }

private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t bytes_;
};

template <class Copy>
void measure(Samples& samples, const std::string& name, Copy copy) {
  const Stopwatch stopwatch;
  copy();
  samples.add(name, stopwatch.microseconds());
}

void measure_size(fd::Agent gpu, std::size_t bytes, Samples& samples) {
  fd::DeviceBuffer<std::byte> device(gpu, bytes);
  fd::PinnedBuffer<std::byte> pinned(gpu, bytes);
  std::memset(pinned.data(), 1, bytes);
  fd::copy(device, pinned);
  for (const Direction direction : {Direction::up, Direction::down}) {
    const bool up = direction == Direction::up;
    const auto copy = [&](std::span<std::byte> host, const fd::CopyOptions& options) {
      if (up)
        fd::copy(device, host, options);
      else
        fd::copy(host, device, options);
    };
    measure(samples, series_of(direction, "pinned", bytes),
            [&] { up ? fd::copy(device, pinned) : fd::copy(pinned, device); });
    for (const bool lock : {false, true}) {
      const Pageable host(bytes);
      measure(samples, series_of(direction, lock ? "locked" : "staged", bytes),
              [&] { copy(host.span(), {.lock_from = lock ? 0 : fd::CopyOptions::never_lock}); });
    }
    const Pageable host(bytes);
    measure(samples, series_of(direction, "memcpy", bytes),
            [&] { std::memcpy(pinned.data(), host.span().data(), bytes); });
  }
}

// fd::copy's way to stage pageable memory, for blocks of any size.
void measure_blocks(fd::Agent gpu, std::size_t block_bytes, Samples& samples) {
  fd::DeviceBuffer<std::byte> device(gpu, bytes_for_blocks);
  std::array blocks{fd::PinnedBuffer<std::byte>(gpu, block_bytes), fd::PinnedBuffer<std::byte>(gpu, block_bytes)};
  std::array copied{fd::Signal(gpu, 0), fd::Signal(gpu, 0)};
  for (fd::PinnedBuffer<std::byte>& block : blocks) std::memset(block.data(), 1, block_bytes);
  const Pageable host(bytes_for_blocks);
  measure(samples, blocks_series(block_bytes), [&] {
    for (std::size_t offset = 0, turn = 0; offset < bytes_for_blocks; offset += block_bytes, turn ^= 1U) {
      copied[turn].wait();
      std::memcpy(blocks[turn].data(), host.span().data() + offset, block_bytes);
      copied[turn].store(1);
      fd::copy_async(device.subspan(offset, block_bytes), blocks[turn], copied[turn]);
    }
    for (fd::Signal& signal : copied) signal.wait();
  });
}

constexpr const char* handed_at_once = "kernel_and_copy_of_a_batch";
constexpr const char* handed_when_it_can_start = "kernel_and_copy_by_callback";
constexpr std::size_t bytes_behind_a_kernel = 4 * kibibyte;
constexpr int copies_behind_kernels = 200;

// A batch hands its copies to HSA when it is submitted, where they wait for its kernels. The other way is to hand a
// copy over when it can start: a thread of the host is told of the kernel's completion.
void measure_behind_a_kernel(fd::Agent gpu, Samples& samples) {
  const fd::Module module = fd::Module::load(gpu, code_objects::empty(), "empty");
  const auto empty = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("empty");
  fd::DeviceBuffer<std::uint32_t> device(gpu, bytes_behind_a_kernel / sizeof(std::uint32_t));
  fd::PinnedBuffer<std::uint32_t> pinned(gpu, device.size());
  fd::Queue queue(gpu);

  fd::Batch both(gpu);
  both.dispatch(empty, fd::grid(1).group(1), device, 0, 0, 0);
  both.copy(pinned, device);
  queue.submit(both).wait();
  const Stopwatch at_once;
  for (int i = 0; i < copies_behind_kernels; ++i) queue.submit(both).wait();
  samples.add(handed_at_once, at_once.microseconds() / copies_behind_kernels);

  fd::Batch kernel(gpu);
  kernel.dispatch(empty, fd::grid(1).group(1), device, 0, 0, 0);
  fd::Signal copied(gpu);
  const auto run = [&] {
    copied.store(1);
    queue.submit(kernel).on_complete([&](const fd::Error*) { fd::copy_async(pinned, device, copied); });
    copied.wait();
  };
  run();
  const Stopwatch when_it_can_start;
  for (int i = 0; i < copies_behind_kernels; ++i) run();
  samples.add(handed_when_it_can_start, when_it_can_start.microseconds() / copies_behind_kernels);
  queue.wait_for_callbacks();
}

std::vector<Group> groups() {
  std::vector<Group> all;
  for (const Direction direction : {Direction::up, Direction::down}) {
    for (const std::size_t bytes : sizes) {
      const std::string title = in_words(bytes) + (direction == Direction::up ? " to" : " from") + " the device, us";
      all.push_back({title,
                     1,
                     {{"staged through two pinned blocks", series_of(direction, "staged", bytes)},
                      {"locked for the copy", series_of(direction, "locked", bytes)},
                      {"pinned before", series_of(direction, "pinned", bytes)},
                      {"memcpy on the host alone", series_of(direction, "memcpy", bytes)}}});
    }
  }
  Group blocks{in_words(bytes_for_blocks) + " to the device by the size of the blocks, us", 1, {}};
  for (const std::size_t block : block_sizes) blocks.lines.push_back({in_words(block), blocks_series(block)});
  all.push_back(blocks);
  all.push_back({"An empty kernel and a copy of " + in_words(bytes_behind_a_kernel) + " from the device, us",
                 1,
                 {{"the copy handed over at once, as batches do", handed_at_once},
                  {"handed over when the kernel has completed", handed_when_it_can_start}}});
  return all;
}

// From the first size on from which locking is faster for all larger ones too.
std::optional<std::size_t> locking_pays_from(Direction direction, const Samples& samples) {
  std::optional<std::size_t> from;
  for (auto bytes = sizes.rbegin(); bytes != sizes.rend(); ++bytes) {
    if (samples.median(series_of(direction, "locked", *bytes)) > samples.median(series_of(direction, "staged", *bytes)))
      break;
    from = *bytes;
  }
  return from;
}

}  // namespace

void run_copy_suite(int rounds, const std::string& json) {
  JsonFile file(json);
  const fd::Runtime runtime;
  const fd::Agent gpu = runtime.gpu();
  Samples samples;
  for (int round = 0; round < rounds; ++round) {
    for (const std::size_t bytes : sizes) measure_size(gpu, bytes, samples);
    for (const std::size_t block : block_sizes) measure_blocks(gpu, block, samples);
    measure_behind_a_kernel(gpu, samples);
  }
  std::cout << "On " << gpu.name() << (runtime.on_softgpu() ? " (soft GPU)" : "") << "; medians of " << rounds
            << " rounds\n";
  print(groups(), samples);
  std::cout << "\nLocking pays from\n";
  for (const Direction direction : {Direction::up, Direction::down}) {
    const auto from = locking_pays_from(direction, samples);
    std::cout << "  " << (from ? in_words(*from) + " on" : "no size on")
              << (direction == Direction::up ? ", to" : ", from") << " the device\n";
  }
  std::cout << "  (CopyOptions::lock_from is " << in_words(fd::CopyOptions{}.lock_from) << " by default)\n";
  file.write(gpu.name(), groups(), samples);
}
