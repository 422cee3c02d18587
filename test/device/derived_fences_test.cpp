// Derived fences on a device. The soft GPU is asked to shuffle what no barrier bit keeps in order; each of its queues
// does so from a seed of its own.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>

#include <bitonic_sort_code_object.hpp>

#include "device.hpp"
#include "dispatch/batch_recording.hpp"

namespace fastdispatch::test {
namespace {

constexpr unsigned seeds = 200;

using Numbers = std::vector<std::uint32_t>;

// Comes before the runtime, which reads it.
struct ShufflingSoftGpu {
  ShufflingSoftGpu() {
    setenv("FASTDISPATCH_SOFTGPU", SOFTGPU_LIBHSAKMT, 0);
    setenv("SOFTGPU_SHUFFLE", "1", 0);
  }
};

class DerivedFences : ShufflingSoftGpu, public Device {};

// ---- random programs

class RandomPrograms : public DerivedFences {
protected:
  static constexpr std::uint32_t size = 512;

  // Some elements of one of the buffers.
  struct Place {
    std::size_t buffer;
    std::uint32_t first;
  };

  std::uint32_t below(std::uint32_t end) { return std::uniform_int_distribution(0U, end - 1)(random); }
  Place any_place(std::uint32_t count) { return {below(buffers.size()), below(size - count + 1)}; }
  DeviceSpan<std::uint32_t> on_device(Place place, std::uint32_t count) {
    return buffers[place.buffer].subspan(place.first, count);
  }
  std::uint32_t* on_host(Place place) { return expected.data() + place.buffer * size + place.first; }

  // Into the batch, and on what the host expects.
  void record_any_step(Batch& batch) {
    const std::uint32_t count = 1 + below(size / 2);
    const Place a = any_place(count);
    const Place b = any_place(count);
    const Place result = any_place(count);
    // Operands lie apart from the result or not at all.
    const auto overlaps = [&](Place place) {
      return place.buffer == result.buffer && place.first < result.first + count && result.first < place.first + count;
    };
    if (overlaps(a) || overlaps(b) || below(3) == 0) {
      batch.dispatch(increment, grid(count), on_device(result, count), count, 7);
      std::for_each_n(on_host(result), count, [](std::uint32_t& value) { value += 7; });
    } else if (below(4) == 0) {
      batch.copy(on_device(result, count), on_device(a, count));
      std::copy_n(on_host(a), count, on_host(result));
    } else {
      batch.dispatch(add, grid(count), on_device(a, count), on_device(b, count), write(on_device(result, count)),
                     count);
      std::transform(on_host(a), on_host(a) + count, on_host(b), on_host(result), std::plus());
    }
  }

  Kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)> add =
      module.kernel<void(const std::uint32_t*, const std::uint32_t*, std::uint32_t*, std::uint32_t)>("add");
  Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)> increment =
      module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  std::mt19937 random;
  std::array<DeviceBuffer<std::uint32_t>, 4> buffers = {
      DeviceBuffer<std::uint32_t>(gpu, size), DeviceBuffer<std::uint32_t>(gpu, size),
      DeviceBuffer<std::uint32_t>(gpu, size), DeviceBuffer<std::uint32_t>(gpu, size)};
  PinnedBuffer<std::uint32_t> memory{gpu, buffers.size() * size};
  Numbers expected = Numbers(memory.size());
};

TEST_F(RandomPrograms, compute_in_any_order_what_they_compute_in_turn) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    random.seed(seed);
    std::iota(memory.begin(), memory.end(), seed);
    std::copy(memory.begin(), memory.end(), expected.begin());
    Batch batch(gpu, {.fences = Fences::derived});
    for (std::size_t i = 0; i < buffers.size(); ++i) batch.copy(buffers[i], memory.span().subspan(i * size, size));
    for (int step = 0; step < 20; ++step) record_any_step(batch);
    for (std::size_t i = 0; i < buffers.size(); ++i) batch.copy(memory.span().subspan(i * size, size), buffers[i]);
    Queue(gpu).submit(batch).wait(limit);
    ASSERT_TRUE(std::equal(memory.begin(), memory.end(), expected.begin())) << "seed " << seed;
  }
}

// ---- the sort

class DerivedSort : public DerivedFences {
protected:
  using Pass = Kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>;
  static constexpr std::uint32_t stages = 5;
  static constexpr std::uint32_t length = 1U << stages;

  DerivedSort() {
    const Pass pass = sort.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("bitonic_pass");
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      for (std::uint32_t step = stage + 1; step-- > 0;) batch.dispatch(pass, grid(length / 2), data, stage, step, 1);
    std::mt19937 random(1);
    std::generate(unsorted.begin(), unsorted.end(), std::ref(random));
  }

  // Whether that is what a submission to a queue of its own does.
  template <class Submission>
  bool sorts(Submission submit) {
    copy(data, std::span(unsorted));
    Queue own(gpu);
    submit(own).wait(limit);
    const Numbers result = download(data);
    return std::is_sorted(result.begin(), result.end());
  }

  Module sort = Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort");
  DeviceBuffer<std::uint32_t> data{gpu, length};
  Numbers unsorted = Numbers(length);
  Batch batch{gpu, {.fences = Fences::derived}};
};

TEST_F(DerivedSort, sorts_whatever_the_seed) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    ASSERT_TRUE(sorts([&](Queue& own) { return own.submit(batch); })) << "seed " << seed;
  }
}

TEST_F(DerivedSort, needs_every_barrier_bit) {
  if (!runtime.on_softgpu()) GTEST_SKIP() << "an AMD GPU may well keep the order by chance";
  const detail::BatchImage image = batch.recording().make_image(nullptr);
  ASSERT_EQ(image.stream.packets.size(), stages * (stages + 1) / 2);
  // The first bit is for what is in the queue before; without the last, nobody knows when the batch ends.
  for (std::size_t i = 1; i + 1 < image.stream.packets.size(); ++i) {
    std::vector<Packet> packets = image.stream.packets;
    Ordering ordering = packets[i].header().ordering;
    ASSERT_EQ(ordering.barrier, BarrierBit::set) << i;
    ordering.barrier = BarrierBit::clear;
    packets[i].set_ordering(ordering);
    bool sorted = true;
    for (unsigned seed = 0; seed < seeds && sorted; ++seed) {
      sorted = sorts([&](Queue& own) { return own.submit(packets); });
    }
    EXPECT_FALSE(sorted) << "without the barrier bit of packet " << i;
  }
}

}  // namespace
}  // namespace fastdispatch::test
