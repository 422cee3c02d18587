// The kernels of the examples that have more than one dispatch in a batch, recorded as their programs record them.
#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include <bitonic_sort_code_object.hpp>
#include <blur_code_object.hpp>
#include <row_sum_code_object.hpp>

#include "dispatch/encode/batch_image.hpp"
#include "dispatch/record/batch_recording.hpp"
#include "shuffling_device.hpp"

namespace fastdispatch::test {
namespace {

class DerivedExample : public DerivedFences {
protected:
  // Sets the batch's input, and checks its result.
  virtual void prepare() = 0;
  virtual bool is_correct() = 0;

  // Whether a submission to a queue of its own gives the right result.
  template <class Submission>
  bool works(Submission submit) {
    prepare();
    Queue own(gpu);
    submit(own).wait(limit);
    return is_correct();
  }

  void expect_to_work_whatever_the_seed(Batch& recorded) {
    for (unsigned seed = 0; seed < seeds; ++seed) {
      ASSERT_TRUE(works([&](Queue& own) { return own.submit(recorded); })) << "seed " << seed;
    }
  }

  // `dispatches` have one packet each, and each waits for the packet before. The first bit is for the queue's earlier
  // packets.
  void expect_to_need_every_barrier_bit(std::size_t dispatches) {
    if (!runtime.on_softgpu()) GTEST_SKIP() << "an AMD GPU may well keep the order by chance";
    detail::KernargChunks kernargs(gpu, KernargMemory::host);
    const detail::BatchImage image = make_image(detail::recording_of(batch), nullptr, kernargs);
    ASSERT_EQ(image.stream.packets.size(), dispatches);
    ASSERT_TRUE(works([&](Queue& own) { return own.submit(image.stream.packets); }));
    for (std::size_t i = 1; i < dispatches; ++i) {
      std::vector<Packet> packets = image.stream.packets;
      Ordering ordering = packets[i].header().ordering;
      ASSERT_EQ(ordering.barrier, BarrierBit::set) << i;
      ordering.barrier = BarrierBit::clear;
      packets[i].set_ordering(ordering);
      bool worked = true;
      for (unsigned seed = 0; seed < seeds && worked; ++seed) {
        worked = works([&](Queue& own) { return own.submit(packets); });
      }
      EXPECT_FALSE(worked) << "without the barrier bit of packet " << i;
    }
  }

  Batch batch{gpu, {.fences = Fences::derived}};  // kernels only
};

// ---- bitonic_sort

class DerivedSort : public DerivedExample {
protected:
  using Pass = void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t);
  static constexpr std::uint32_t stages = 5;
  static constexpr std::uint32_t length = 1U << stages;

  DerivedSort() {
    const auto pass = sort.kernel<Pass>("bitonic_pass");
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      for (std::uint32_t step = stage + 1; step-- > 0;) batch.dispatch(pass, grid(length / 2), data, stage, step, 1);
    std::mt19937 random(1);
    std::generate(unsorted.begin(), unsorted.end(), std::ref(random));
  }

  void prepare() override { copy(data, std::span(unsorted)); }
  bool is_correct() override {
    const std::vector<std::uint32_t> result = download(data);
    return std::is_sorted(result.begin(), result.end());
  }

  Module sort = Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort");
  DeviceBuffer<std::uint32_t> data{gpu, length};
  std::vector<std::uint32_t> unsorted = std::vector<std::uint32_t>(length);
};

TEST_F(DerivedSort, sorts_whatever_the_seed) { expect_to_work_whatever_the_seed(batch); }
TEST_F(DerivedSort, needs_every_barrier_bit) { expect_to_need_every_barrier_bit(stages * (stages + 1) / 2); }

// ---- row_sum, in two launches

class DerivedRowSum : public DerivedExample {
protected:
  using BlockSums = void(const float*, float*, std::uint32_t, std::uint32_t);
  using SumsOfBlocks = void(const float*, float*, std::uint32_t, std::uint32_t);
  static constexpr std::uint32_t group_size = 256;
  static constexpr std::uint32_t rows = 5;
  static constexpr std::uint32_t columns = 600;
  static constexpr std::uint32_t blocks = 3;

  DerivedRowSum() {
    std::generate(matrix.begin(), matrix.end(), [number = 0]() mutable { return static_cast<float>(number++ % 1000); });
    record_kernels(batch);
    all.copy(on_gpu, matrix);
    record_kernels(all);
    all.copy(sums_on_host, sums);
  }

  void record_kernels(Batch& to) {
    to.dispatch(row_sum.kernel<BlockSums>("block_sums"), grid(blocks * group_size, rows).group(group_size), on_gpu,
                partials, rows, columns);
    to.dispatch(row_sum.kernel<SumsOfBlocks>("sums_of_blocks"), grid(group_size).group(group_size), partials, sums,
                rows, blocks);
  }

  void prepare() override {
    copy(on_gpu, matrix);
    const std::vector<float> nothing(partials.size() + sums.size(), std::numeric_limits<float>::quiet_NaN());
    copy(partials, std::span(nothing).first(partials.size()));
    copy(sums, std::span(nothing).first(sums.size()));
    std::fill(sums_on_host.begin(), sums_on_host.end(), std::numeric_limits<float>::quiet_NaN());
  }
  // Sums of integers are exact in any order.
  bool adds_up(std::span<const float> result) const {
    for (std::size_t row = 0; row < rows; ++row) {
      float sum = 0;
      for (std::size_t column = 0; column < columns; ++column) sum += matrix[row * columns + column];
      if (result[row] != sum) return false;
    }
    return true;
  }
  bool is_correct() override {
    return adds_up(copied_back ? std::vector(sums_on_host.begin(), sums_on_host.end()) : download(sums));
  }

  Module row_sum = Module::load(gpu, code_objects::row_sum(), "row_sum");
  PinnedBuffer<float> matrix{gpu, std::size_t{rows} * columns};
  DeviceBuffer<float> on_gpu{gpu, matrix.size()};
  DeviceBuffer<float> partials{gpu, std::size_t{rows} * blocks};
  DeviceBuffer<float> sums{gpu, rows};
  PinnedBuffer<float> sums_on_host{gpu, rows};
  Batch all{gpu, {.fences = Fences::derived}};  // with both copies
  bool copied_back = false;
};

TEST_F(DerivedRowSum, adds_up_whatever_the_seed) { expect_to_work_whatever_the_seed(batch); }
TEST_F(DerivedRowSum, adds_up_between_copies_whatever_the_seed) {
  copied_back = true;
  expect_to_work_whatever_the_seed(all);
}
TEST_F(DerivedRowSum, needs_every_barrier_bit) { expect_to_need_every_barrier_bit(2); }

// ---- blur

class DerivedBlur : public DerivedExample {
protected:
  using Pixel = std::array<std::uint8_t, 4>;
  using Pass = void(const Pixel*, Pixel*, std::uint32_t, std::uint32_t);
  static constexpr std::uint32_t width = 21;
  static constexpr std::uint32_t height = 13;
  static constexpr std::uint32_t passes = 5;

  DerivedBlur() {
    std::mt19937 random(1);
    for (Pixel& pixel : image)
      for (std::uint8_t& channel : pixel) channel = static_cast<std::uint8_t>(random());
    copy(source, std::span(image));
    expected = image;
    const auto pass = blur.kernel<Pass>("blur_untiled");
    for (std::uint32_t i = 0; i < passes; ++i) {
      const DeviceBuffer<Pixel>& from = i == 0 ? source : buffers[(i - 1) % 2];
      batch.dispatch(pass, grid(32, 16).group(8, 8), from, write(buffers[i % 2]), width, height);
    }
    for (std::uint32_t i = 0; i < passes; ++i) blur_on_host();
  }

  void blur_on_host() {
    const std::vector<Pixel> from = expected;
    const auto pixel = [&](std::uint32_t x, std::uint32_t y) {
      return from[std::clamp(y, 1U, height) * width - width + std::clamp(x, 1U, width) - 1];  // both count from 1
    };
    for (std::uint32_t y = 1; y <= height; ++y) {
      for (std::uint32_t x = 1; x <= width; ++x) {
        for (std::size_t c = 0; c < 4; ++c) {
          const unsigned sum =
              pixel(x, y)[c] + pixel(x - 1, y)[c] + pixel(x + 1, y)[c] + pixel(x, y - 1)[c] + pixel(x, y + 1)[c];
          expected[(y - 1) * width + x - 1][c] = static_cast<std::uint8_t>((sum + 2) / 5);
        }
      }
    }
  }

  void prepare() override {
    const std::vector<Pixel> black(image.size());
    for (DeviceBuffer<Pixel>& buffer : buffers) copy(buffer, std::span(black));
  }
  bool is_correct() override { return download(buffers[(passes - 1) % 2]) == expected; }

  Module blur = Module::load(gpu, code_objects::blur(), "blur");
  std::vector<Pixel> image = std::vector<Pixel>(std::size_t{width} * height);
  std::vector<Pixel> expected;
  DeviceBuffer<Pixel> source{gpu, image.size()};
  std::array<DeviceBuffer<Pixel>, 2> buffers = {DeviceBuffer<Pixel>(gpu, image.size()),
                                                DeviceBuffer<Pixel>(gpu, image.size())};
};

TEST_F(DerivedBlur, blurs_whatever_the_seed) { expect_to_work_whatever_the_seed(batch); }
TEST_F(DerivedBlur, needs_every_barrier_bit) { expect_to_need_every_barrier_bit(passes); }

}  // namespace
}  // namespace fastdispatch::test
