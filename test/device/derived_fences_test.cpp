// Random programs with derived fences.
#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <list>
#include <numeric>
#include <random>
#include <vector>

#include "shuffling_device.hpp"

namespace fastdispatch::test {
namespace {

class RandomPrograms : public DerivedFences {
protected:
  static constexpr std::uint32_t size = 512;
  static constexpr std::uint32_t summed = 64;

  // Some elements of one of the buffers.
  struct Place {
    std::size_t buffer;
    std::uint32_t first;
  };

  std::uint32_t below(std::uint32_t end) { return std::uniform_int_distribution(0U, end - 1)(random); }
  Place any_place(std::uint32_t count) {
    return {first_buffer + below(last_buffer - first_buffer), below(size - count + 1)};
  }
  DeviceSpan<std::uint32_t> on_device(Place place, std::uint32_t count) {
    return buffers[place.buffer].subspan(place.first, count);
  }
  std::uint32_t* on_host(Place place) { return expected.data() + place.buffer * size + place.first; }

  // Of a program.
  struct Step {
    std::function<void(Batch&)> record;
    std::function<void()> compute;  // on what the host expects
  };
  Step any_step() {
    const std::uint32_t count = 1 + below(size / 2);
    const Place a = any_place(count);
    const Place b = any_place(count);
    const Place result = any_place(count);
    // Operands lie apart from the result or not at all.
    const auto overlaps = [&](Place place) {
      return place.buffer == result.buffer && place.first < result.first + count && result.first < place.first + count;
    };
    if (overlaps(a) || overlaps(b) || below(3) == 0)
      return {[=, this](Batch& batch) { batch.dispatch(increment, grid(count), on_device(result, count), count, 7); },
              [=, this] { std::for_each_n(on_host(result), count, [](std::uint32_t& value) { value += 7; }); }};
    if (below(4) == 0)
      return {[=, this](Batch& batch) { batch.copy(on_device(result, count), on_device(a, count)); },
              [=, this] { std::copy_n(on_host(a), count, on_host(result)); }};
    return {[=, this](Batch& batch) {
              batch.dispatch(add, grid(count), on_device(a, count), on_device(b, count),
                             write(on_device(result, count)), count);
            },
            [=, this] { std::transform(on_host(a), on_host(a) + count, on_host(b), on_host(result), std::plus()); }};
  }

  // Numbers that depend on the seed, in the host's memory and, by `put`, on the device.
  template <class Put>
  void begin(unsigned seed, Put put) {
    random.seed(seed);
    std::iota(memory.begin(), memory.end(), seed);
    std::copy(memory.begin(), memory.end(), expected.begin());
    for (std::size_t i = 0; i < buffers.size(); ++i) put(buffers[i], memory.span().subspan(i * size, size));
  }

  // Of the first elements of two buffers, into another one; where the two are the same, an increment.
  struct Sum {
    std::size_t a, b, result;
  };

  std::vector<Sum> record_chains(Batch& batch) {
    std::vector<Sum> sums;
    for (std::uint32_t i = 24 + below(24); i > 0; --i) {
      const std::uint32_t chain = below(buffers.size());
      sums.push_back({chain, below(12) == 0 ? below(buffers.size()) : chain, chain});
    }
    for (const auto& [a, b, result] : sums) {
      if (a == b)
        batch.dispatch(increment, grid(summed), buffers[result], summed, 7);
      else
        batch.dispatch(add, grid(summed), buffers[a], buffers[b], read_write(buffers[result]), summed);
    }
    return sums;
  }
  // On what the host expects.
  void compute(const Sum& sum) {
    for (std::uint32_t i = 0; i < summed; ++i) {
      std::uint32_t& value = expected[sum.result * size + i];
      value = sum.a == sum.b ? value + 7 : expected[sum.a * size + i] + expected[sum.b * size + i];
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
  std::vector<std::uint32_t> expected = std::vector<std::uint32_t>(memory.size());
  std::size_t first_buffer = 0;              // the steps are on those from here
  std::size_t last_buffer = buffers.size();  // up to here
};

TEST_F(RandomPrograms, compute_in_any_order_what_they_compute_in_turn) {
  for (unsigned seed = 0; seed < seeds; ++seed) {
    Batch batch(gpu, {.fences = Fences::derived});
    begin(seed, [&](const auto& to, const auto& from) { batch.copy(to, from); });
    for (int i = 0; i < 20; ++i) {
      const Step step = any_step();
      step.record(batch);
      step.compute();
    }
    for (std::size_t i = 0; i < buffers.size(); ++i) batch.copy(memory.span().subspan(i * size, size), buffers[i]);
    Queue(gpu).submit(batch).wait(limit);
    ASSERT_TRUE(std::equal(memory.begin(), memory.end(), expected.begin())) << "seed " << seed;
  }
}

// Small batches on some of the buffers each, so that one often begins before the one before it has ended.
TEST_F(RandomPrograms, submitted_in_turn_compute_in_any_order_what_they_compute_one_after_the_other) {
  struct Program {
    Batch batch;
    std::vector<Step> steps{};
  };
  for (unsigned seed = 0; seed < seeds; ++seed) {
    begin(seed, [&](const auto& to, const auto& from) { copy(to, from); });
    std::vector<Program> programs;
    for (int i = 0; i < 4; ++i) {
      first_buffer = below(buffers.size());
      last_buffer = first_buffer + 1 + below(buffers.size() - first_buffer);
      Program& program = programs.emplace_back(Program{Batch(gpu, {.fences = Fences::derived})});
      for (std::uint32_t steps = 2 + below(4); steps > 0; --steps)
        program.steps.emplace_back(any_step()).record(program.batch);
    }
    Queue shuffled(gpu);
    for (int run = 0; run < 12; ++run) {
      Program& program = programs[below(programs.size())];
      shuffled.submit(program.batch);
      for (const Step& step : program.steps) step.compute();
    }
    shuffled.wait(limit);
    for (std::size_t i = 0; i < buffers.size(); ++i) copy(memory.span().subspan(i * size, size), buffers[i]);
    ASSERT_TRUE(std::equal(memory.begin(), memory.end(), expected.begin())) << "seed " << seed;
  }
}

// Several programs of chains over a buffer each, which meet now and then, so that several queues have something to do.
// Some do not say what they touch. A dozen runs of them, in any order, are in flight together.
TEST_F(RandomPrograms, spread_over_queues_compute_in_any_order_what_they_compute_in_turn) {
  std::size_t spread = 0;
  std::size_t waiting = 0;
  for (unsigned seed = 0; seed < seeds; ++seed) {
    begin(seed, [&](const auto& to, const auto& from) { copy(to, from); });

    Streams streams(gpu, {.queues = 2 + seed % 3});
    std::list<Batch> batches;
    std::vector<std::vector<Sum>> programs(1 + below(6));
    for (std::vector<Sum>& program : programs) {
      const Fences fences = below(8) == 0 ? Fences::minimal : Fences::derived;
      Batch& batch = batches.emplace_back(gpu, BatchOptions{.fences = fences});
      program = record_chains(batch);
      const StreamsLayout layout = streams.layout(batch);
      spread += layout.queues > 1 ? 1 : 0;
      waiting += layout.segments > layout.queues ? 1 : 0;
    }
    for (int run = 0; run < 12; ++run) {
      const std::uint32_t number = below(static_cast<std::uint32_t>(programs.size()));
      streams.submit(*std::next(batches.begin(), number));
      for (const Sum& sum : programs[number]) compute(sum);
    }
    streams.wait(limit);
    for (std::size_t i = 0; i < buffers.size(); ++i) copy(memory.span().subspan(i * size, size), buffers[i]);
    ASSERT_TRUE(std::equal(memory.begin(), memory.end(), expected.begin())) << "seed " << seed;
  }
  EXPECT_GT(spread, 2 * seeds);
  EXPECT_GT(waiting, seeds / 2);
}

}  // namespace
}  // namespace fastdispatch::test
