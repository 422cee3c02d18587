#include <cstdint>
#include <optional>
#include <vector>

#include "device.hpp"

namespace fastdispatch::test {
namespace {

using ::testing::Each;

/// Each width: filled by HSA where the bytes repeat every four, and else by copies of blocks.
template <class T>
class Fills : public Device {};

struct Triple {
  std::uint16_t values[3];
  friend bool operator==(const Triple&, const Triple&) = default;
};

template <class T>
std::vector<T> values_to_fill_with() {
  if constexpr (std::is_same_v<T, Triple>)
    return {{1, 2, 3}, {7, 7, 7}};
  else
    return {T(0), T(1), T(-3.5)};
}

using Elements = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, float, double, Triple>;
TYPED_TEST_SUITE(Fills, Elements);

TYPED_TEST(Fills, set_every_element) {
  // One element, an odd number, and more than a block of 1 MiB.
  for (const std::size_t size : {1U, 1001U, 400'001U}) {
    DeviceBuffer<TypeParam> device(this->gpu, size);
    PinnedBuffer<TypeParam> pinned(this->gpu, size);
    for (const TypeParam& value : values_to_fill_with<TypeParam>()) {
      fill(device, value);
      ASSERT_THAT(this->download(device), Each(value)) << size;
      fill(pinned, value);
      ASSERT_THAT(pinned, Each(value)) << size;
    }
  }
}

TYPED_TEST(Fills, of_a_batch_run_at_every_submission) {
  constexpr std::size_t size = 9 * 400'001;  // several blocks for the wider types
  DeviceBuffer<TypeParam> device(this->gpu, size);
  PinnedBuffer<TypeParam> pinned(this->gpu, 33);
  const TypeParam value = values_to_fill_with<TypeParam>().back();
  Batch batch(this->gpu, {.fences = Fences::derived});
  batch.fill(device, value);
  batch.fill(pinned, value);
  const auto run = [&, again = Batch(std::move(batch))] {
    fill(device, TypeParam{});
    fill(pinned, TypeParam{});
    this->queue.submit(again).wait(this->limit);
    EXPECT_TRUE(this->download(device) == std::vector<TypeParam>(size, value));
    EXPECT_THAT(pinned, Each(value));
  };
  run();
  run();
}

class FillsOfParts : public Device {};

TEST_F(FillsOfParts, leave_the_rest_as_it_was) {
  DeviceBuffer<std::uint8_t> device(gpu, 16);
  fill(device, 1);
  fill(device.subspan(3, 6), 2);  // not aligned to what HSA fills
  fill(device.subspan(8, 0), 3);
  EXPECT_THAT(download(device), ::testing::ElementsAre(1, 1, 1, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1));
}

TEST_F(FillsOfParts, are_ordered_with_kernels_of_their_batch) {
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  DeviceBuffer<std::uint32_t> values(gpu, 1000);
  for (const Fences fences : {Fences::conservative, Fences::minimal, Fences::derived}) {
    Batch batch(gpu, {.fences = fences});
    batch.fill(values, 5);
    batch.dispatch(increment, grid(1000), values, 1000, 2);
    batch.fill(values.subspan(500, 500), 1);
    batch.dispatch(increment, grid(1000), values, 1000, 3);
    queue.submit(batch).wait(limit);
    std::vector<std::uint32_t> expected(1000, 10);
    std::fill(expected.begin() + 500, expected.end(), 4);
    EXPECT_EQ(download(values), expected);
  }
}

TEST_F(FillsOfParts, of_submissions_in_flight_outlive_their_batch) {
  DeviceBuffer<std::uint32_t> values(gpu, 100);
  std::optional<Batch> batch(std::in_place, gpu);
  batch->fill(values, 7);
  const Submission submission = queue.submit(*batch);
  batch.reset();
  submission.wait(limit);
  EXPECT_THAT(download(values), Each(7U));
}

}  // namespace
}  // namespace fastdispatch::test
