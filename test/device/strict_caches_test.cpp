// Fences that are missing show as old data on a strict soft GPU, whose compute units keep what they have read.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include <bitonic_sort_code_object.hpp>

#include "device.hpp"
#include "dispatch/encode/batch_image.hpp"
#include "dispatch/record/batch_recording.hpp"

namespace fastdispatch::test {
namespace {

// Comes before the runtime, which reads it.
struct OwnSoftGpu {
  OwnSoftGpu() {
    setenv("FASTDISPATCH_DEVICE", "softgpu", 1);
    setenv("FASTDISPATCH_SOFTGPU", SOFTGPU_LIBHSAKMT, 0);
  }
};

class StrictCaches : OwnSoftGpu, public Device {
protected:
  static constexpr std::uint32_t stages = 14;
  static constexpr std::uint32_t length = 1U << stages;
  static constexpr unsigned attempts = 100;  // all work-groups of a pass may run on one compute unit, by chance

  StrictCaches() {
    const auto pass = sort.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t, std::uint32_t)>("bitonic_pass");
    for (std::uint32_t stage = 0; stage < stages; ++stage)
      for (std::uint32_t step = stage + 1; step-- > 0;)
        batch.dispatch(pass, grid(length / 2).group(256), data, stage, step, 1);
    std::mt19937 random(1);
    std::generate(unsorted.begin(), unsorted.end(), std::ref(random));
  }
  void SetUp() override {
    if (std::getenv("SOFTGPU_STRICT") == nullptr) GTEST_SKIP() << "only a strict soft GPU must show it";
  }

  [[nodiscard]] bool has_isa(std::string_view prefix) const {
    return gpu.properties().isa.find(prefix) != std::string::npos;
  }
  [[nodiscard]] bool has_several_l2s() const { return has_isa("gfx942") || has_isa("gfx950"); }
  /// As far as `attempts` show.
  bool always_sorts(std::span<const Packet> packets) {
    bool sorted = true;
    for (unsigned attempt = 0; attempt < attempts && sorted; ++attempt) sorted = sorts(packets);
    return sorted;
  }
  bool sorts(std::span<const Packet> packets) {
    copy(data, std::span(unsorted));
    Queue own(gpu);
    own.submit(packets).wait(limit);
    const std::vector<std::uint32_t> result = download(data);
    return std::is_sorted(result.begin(), result.end());
  }

  Module sort = Module::load(gpu, code_objects::bitonic_sort(), "bitonic_sort");
  DeviceBuffer<std::uint32_t> data{gpu, length};
  std::vector<std::uint32_t> unsorted = std::vector<std::uint32_t>(length);
  Batch batch{gpu, {.fences = Fences::minimal}};
  detail::KernargChunks kernargs{gpu, KernargMemory::host};
};

TEST_F(StrictCaches, need_no_more_than_minimal_fences) {
  const detail::BatchImage image = make_image(detail::recording_of(batch), nullptr, kernargs);
  for (unsigned attempt = 0; attempt < 10; ++attempt) ASSERT_TRUE(sorts(image.stream.packets)) << attempt;
}

TEST_F(StrictCaches, show_passes_that_do_not_acquire) {
  const detail::BatchImage image = make_image(detail::recording_of(batch), nullptr, kernargs);
  std::vector<Packet> packets = image.stream.packets;
  for (Packet& packet : std::span(packets).subspan(1)) {
    Ordering ordering = packet.header().ordering;
    ordering.acquire = FenceScope::none;
    packet.set_ordering(ordering);
  }
  EXPECT_FALSE(always_sorts(packets));
}

TEST_F(StrictCaches, show_passes_that_do_not_release) {
  if (!has_several_l2s()) GTEST_SKIP() << "only a GPU with several L2s writes them back for other kernels";
  const detail::BatchImage image = make_image(detail::recording_of(batch), nullptr, kernargs);
  std::vector<Packet> packets = image.stream.packets;
  for (Packet& packet : std::span(packets).first(packets.size() - 1)) {
    Ordering ordering = packet.header().ordering;
    ordering.release = FenceScope::none;
    packet.set_ordering(ordering);
  }
  EXPECT_FALSE(always_sorts(packets));
}

TEST_F(StrictCaches, show_barriers_that_order_no_caches) {
  if (!has_isa("gfx1")) GTEST_SKIP() << "only a work-group on two compute units has two caches";
  const auto read_again = module.kernel<void(std::uint32_t*, std::uint32_t*, std::uint32_t)>("read_again");
  const auto sum = [&](std::uint32_t fences) {
    DeviceBuffer<std::uint32_t> values = upload(std::vector<std::uint32_t>(64, 1));
    DeviceBuffer<std::uint32_t> result(gpu, 1);
    queue.dispatch(read_again, grid(64).group(64), values, result, fences).wait(limit);
    return download(result)[0];
  };
  EXPECT_EQ(sum(0), 2U);
  EXPECT_EQ(sum(1), 6U);
}

TEST_F(StrictCaches, show_kernel_arguments_that_are_not_acquired) {
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  Batch one(gpu, {.fences = Fences::minimal});
  DeviceBuffer<std::uint32_t> value = upload(numbers(1));
  one.dispatch(increment, grid(1), value, 1, 1);
  const detail::BatchImage image = make_image(detail::recording_of(one), nullptr, kernargs);
  Packet packet = image.stream.packets.at(0);
  auto* arguments = std::bit_cast<std::uint32_t*>(packet.word64(10));

  bool was_old = false;
  std::uint32_t by = 1;
  for (unsigned attempt = 0; attempt < attempts && !was_old; ++attempt) {
    for (const FenceScope acquire : {FenceScope::system, FenceScope::none}) {
      arguments[3] = ++by;
      Ordering ordering = packet.header().ordering;
      ordering.acquire = acquire;
      packet.set_ordering(ordering);
      const std::uint32_t before = download(value)[0];
      queue.submit(std::span(&packet, 1)).wait(limit);
      const std::uint32_t added = download(value)[0] - before;
      if (acquire == FenceScope::system)
        ASSERT_EQ(added, by);
      else
        was_old = added != by;
    }
  }
  EXPECT_TRUE(was_old);
}

TEST_F(StrictCaches, show_results_that_are_not_released) {
  if (!has_isa("gfx9")) GTEST_SKIP() << "only gfx9 writes its L2 back";
  const auto increment = module.kernel<void(std::uint32_t*, std::uint32_t, std::uint32_t)>("increment");
  DeviceBuffer<std::uint32_t> value = upload(numbers(1));
  Signal done(gpu);
  KernargBlock block(gpu, increment.kernarg_size());
  const auto add_5 = [&](FenceScope release) {
    done.store(1);
    const DispatchOptions options{.ordering = {.release = release}, .completion = &done, .kernargs = &block};
    queue.dispatch(increment, grid(1), options, value, 1, 5);
    done.wait(limit);
    return download(value)[0];
  };
  EXPECT_EQ(add_5(has_several_l2s() ? FenceScope::none : FenceScope::agent), 0U);  // in the L2 alone
  const std::uint32_t released = add_5(FenceScope::system);
  if (has_several_l2s())
    EXPECT_THAT(released, ::testing::AnyOf(5U, 10U));  // on an XCD that does not see the first 5, or on the same
  else
    EXPECT_EQ(released, 10U);  // to which the first 5 were added
}

TEST_F(StrictCaches, show_float_atomics_on_fine_grained_memory) {
  if (!has_isa("gfx90a")) GTEST_SKIP() << "only gfx90a drops them";
  const auto add = module.kernel<void(double*, double, double*)>("add_to_double");
  DeviceBuffer<double> before(gpu, 1);
  const auto add_2 = [&](double* sum) {
    queue.dispatch(add, grid(1), sum, 2.0, before).wait(limit);
    return download(before)[0];
  };
  PinnedBuffer<double> fine(gpu, 1);
  fine[0] = 5;
  EXPECT_EQ(add_2(fine.data()), 0);
  EXPECT_EQ(fine[0], 5);
  DeviceBuffer<double> coarse = upload(std::vector<double>{5});
  EXPECT_EQ(add_2(coarse.data()), 5);
  EXPECT_EQ(download(coarse)[0], 7);
}

}  // namespace
}  // namespace fastdispatch::test
