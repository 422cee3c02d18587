#include "dispatch/streams/run_order.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "begin_beside.hpp"
#include "dispatch/streams/partition.hpp"
#include "fastdispatch/error.hpp"
#include "happens_before.hpp"
#include "programs.hpp"

namespace fastdispatch::test {
namespace {

using detail::Milestone;
using detail::Overlap;
using detail::Partition;
using detail::RunOrder;
using detail::Segment;
using detail::SpreadRecording;
using detail::Step;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A program that says what it touches; or a program that does not, and goes to one queue as it is.
struct Program {
  Program(Steps recorded, const Partition& spread)
      : steps(std::move(recorded)), partition(spread), program(partition, steps, Overlap::where_nothing_conflicts) {}
  explicit Program(Steps recorded)
      : steps(std::move(recorded)), partition(in_one_piece(steps.size())), fences(Fences::conservative),
        program(partition, unsaid(steps), Overlap::never) {}

  static Steps unsaid(Steps steps) {
    for (Step& step : steps)
      if (auto* dispatch = std::get_if<detail::DispatchStep>(&step)) dispatch->accesses.clear();
    return steps;
  }
  static Partition in_one_piece(std::size_t steps) {
    Partition result;
    result.segments.push_back({.queue = 0, .steps = {}, .waits = {}});
    for (std::size_t step = 0; step < steps; ++step) result.segments[0].steps.push_back(step);
    return result;
  }

  Steps steps;
  Partition partition;
  Fences fences = Fences::derived;
  SpreadRecording program;
};

// Runs right behind one another, as they are submitted.
class Runs {
public:
  // Without the wait of this number, if there is one.
  explicit Runs(std::size_t queues, std::size_t recent = RunOrder::most_recent,
                std::optional<std::size_t> left_out = {})
      : queues_(queues), order_(queues, recent), left_out_(left_out) {}

  // Returns how many packets wait for other queues.
  std::size_t run(Program& program) {
    const std::size_t waits_before = waits_.size();
    std::vector<std::size_t> waits;
    const auto submit = [&](SubmittedPackets submitted, const std::optional<detail::Footprint>& footprint = {}) {
      submitted.waits = std::exchange(waits, {});
      submitted.ends_all = false;
      begun_beside_ += ends_.submit(submitted, footprint) ? 1 : 0;
      submissions_.push_back(std::move(submitted));
      return submissions_.size();  // as an epoch
    };
    const Milestone& end = order_.run(
        program.program,
        [&](std::size_t queue, const Milestone& milestone) {
          if (waits_.size() != left_out_) waits.push_back(milestone.epoch - 1);
          waits_.push_back({queue, milestone.epoch - 1});
        },
        [&](std::size_t number) {
          const Segment& segment = program.partition.segments[number];
          const Steps own = steps_of(program, segment);
          SubmittedPackets submitted = packets_of(program, segment, own);
          const bool is_known = program.fences == Fences::derived;
          return submit(submitted, is_known ? std::optional(detail::Footprint(own, submitted.stream)) : std::nullopt);
        },
        [&] {
          return submit({.queue = queues_, .stream = {.packets = {encode(BarrierAnd{})}, .copies = {}}, .steps = {}});
        });
    submissions_[end.epoch - 1].ends_all = true;
    steps_.insert(steps_.end(), program.steps.begin(), program.steps.end());
    return waits_.size() - waits_before;
  }

  [[nodiscard]] std::optional<std::string> missing() const {
    return HappensBefore(submissions_).missing(steps_, SharedMemory::system_scope);
  }
  void forget(const Program& program) { order_.forget(program.program); }

  // A queue's wait for the end of a submission to another queue, by the submission's number.
  struct Wait {
    std::size_t queue;
    std::size_t submission;

    friend bool operator==(const Wait&, const Wait&) = default;
  };
  [[nodiscard]] const std::vector<Wait>& waits() const { return waits_; }
  [[nodiscard]] bool is_end(std::size_t submission) const { return submissions_[submission].ends_all; }
  [[nodiscard]] std::size_t joining_queue() const { return queues_; }
  // How many segments begin beside the last packet before them in their queue.
  [[nodiscard]] std::size_t begun_beside() const { return begun_beside_; }

private:
  static Steps steps_of(const Program& program, const Segment& segment) {
    Steps own;
    for (const std::size_t step : segment.steps) own.push_back(program.steps[step]);
    return own;
  }
  [[nodiscard]] SubmittedPackets packets_of(const Program& program, const Segment& segment, const Steps& own) const {
    SubmittedPackets result{.queue = segment.queue, .stream = encode(own, program.fences, nullptr), .steps = {}};
    for (const std::size_t step : segment.steps) result.steps.push_back(steps_.size() + step);
    return result;
  }

  std::size_t queues_;
  RunOrder order_;
  std::optional<std::size_t> left_out_;
  Steps steps_;
  std::vector<SubmittedPackets> submissions_;
  std::vector<Wait> waits_;
  QueueEnds ends_;
  std::size_t begun_beside_ = 0;
};

// Chains of dispatches on these buffers, each in a queue of its own.
Program chains(const std::vector<std::uintptr_t>& buffers, std::size_t length = 3) {
  Steps steps;
  Partition partition{.queues = buffers.size(), .segments = {}};
  for (std::size_t queue = 0; queue < buffers.size(); ++queue) {
    Segment& segment = partition.segments.emplace_back(Segment{.queue = queue, .steps = {}, .waits = {}});
    for (std::size_t i = 0; i < length; ++i) {
      segment.steps.push_back(steps.size());
      steps.push_back(dispatch({read_write(buffers[queue])}));
    }
  }
  return {steps, partition};
}

// The waits of queues other than the joining one.
std::vector<Runs::Wait> between_queues(const Runs& runs) {
  std::vector<Runs::Wait> result = runs.waits();
  std::erase_if(result, [&](const Runs::Wait& wait) { return wait.queue == runs.joining_queue(); });
  return result;
}

TEST(RunsOfPrograms, without_a_common_buffer_do_not_wait_for_each_other) {
  Program a = chains({0, 1});
  Program b = chains({2, 3});
  Runs runs(2);
  for (Program* program : {&a, &b, &a, &b, &b}) runs.run(*program);
  EXPECT_THAT(between_queues(runs), IsEmpty());
}

TEST(RunsOfPrograms, wait_for_the_segments_of_other_queues_with_which_they_conflict) {
  Program a = chains({0, 1, 2});
  Program b = chains({1, 5, 2});  // buffer 1 in another queue, buffer 2 in the same
  Runs runs(3);
  runs.run(a);  // segments 0, 1, 2, and the end, 3
  runs.run(b);
  EXPECT_THAT(between_queues(runs), ElementsAre(Runs::Wait{0, 1}));
  EXPECT_EQ(runs.missing(), std::nullopt);
}

TEST(RunsOfPrograms, wait_for_what_they_conflict_with_before_the_run_before) {
  Program a = chains({0, 1});
  Program b = chains({5, 6});
  Program c = chains({1, 0});
  Runs runs(2);
  for (Program* program : {&a, &a, &b, &c}) runs.run(*program);
  // The second run of a is 3, 4 and its end.
  EXPECT_THAT(between_queues(runs), ElementsAre(Runs::Wait{0, 4}, Runs::Wait{1, 3}));
  EXPECT_EQ(runs.missing(), std::nullopt);
}

TEST(RunsOfPrograms, wait_for_the_end_of_what_ran_too_long_ago) {
  std::list<Program> programs;
  Runs runs(2);
  for (std::uintptr_t i = 0; i <= RunOrder::most_recent; ++i)
    runs.run(programs.emplace_back(chains({2 * i, 2 * i + 1})));
  EXPECT_THAT(between_queues(runs), IsEmpty());
  runs.run(programs.emplace_back(chains({100, 101})));
  EXPECT_THAT(between_queues(runs), ElementsAre(Runs::Wait{0, 2}, Runs::Wait{1, 2})) << "the end of the first run";
}

TEST(RunsOfPrograms, that_do_not_say_what_they_touch_wait_for_all_before_and_hold_up_all_behind) {
  Program a = chains({0, 1});
  Program unknown(Steps{dispatch({read_write(100)})});
  Program b = chains({2, 3});
  Runs runs(2);
  for (Program* program : {&a, &unknown, &b}) runs.run(*program);
  EXPECT_THAT(between_queues(runs), ElementsAre(Runs::Wait{0, 2}, Runs::Wait{1, 3}))
      << "the ends of the first and second";
}

TEST(RunsOfPrograms, behind_those_of_a_program_that_is_gone_wait_for_its_end) {
  Runs runs(2);
  Program a = chains({0, 1});
  Program gone = chains({1, 0});
  Program b = chains({2, 3});
  runs.run(a);
  runs.run(gone);
  runs.forget(gone);
  runs.run(b);
  EXPECT_THAT(between_queues(runs),
              UnorderedElementsAre(Runs::Wait{0, 1}, Runs::Wait{1, 0}, Runs::Wait{0, 5}, Runs::Wait{1, 5}));
}

TEST(RunsOfPrograms, that_could_not_begin_count_for_nothing) {
  Program a = chains({0, 1});
  Program b = chains({1, 0});
  RunOrder order(2);
  std::uint64_t epoch = 0;
  std::size_t waits = 0;
  const auto wait = [&](std::size_t, const Milestone&) { ++waits; };
  const auto next_epoch = [&](auto...) { return ++epoch; };
  const auto refuse = [](auto...) -> std::uint64_t { throw Error("no room"); };
  order.run(a.program, wait, next_epoch, next_epoch);
  waits = 0;
  const auto refuse_wait = [](auto...) { throw Error("no room"); };
  EXPECT_THROW(order.run(b.program, refuse_wait, next_epoch, next_epoch), Error);
  EXPECT_THROW(order.run(b.program, wait, refuse, next_epoch), Error);
  EXPECT_EQ(std::exchange(waits, 0), 1U) << "which is in the queue and holds for what comes next";
  EXPECT_EQ(order.end().epoch, epoch) << "of the run before";
  order.run(b.program, wait, next_epoch, next_epoch);
  EXPECT_EQ(waits, 3U) << "the other queue's, and two where the ends are joined";
}

// ---- properties of random programs

// Chains that meet now and then.
Steps random_chains(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const std::uintptr_t chains = 2 + below(4);
  const auto other = [&] { return static_cast<std::uintptr_t>(below(chains)); };
  Steps steps;
  for (std::size_t count = 6 + below(16); count > 0; --count) {
    const std::uintptr_t chain = other();
    const std::size_t kind = below(20);
    if (kind == 0)
      steps.push_back(copy(read(chain), read(other() + chains)));
    else if (kind == 1)
      steps.push_back(dispatch({read(chain), write(other())}));
    else if (kind < 5)
      steps.push_back(dispatch({read_write(chain), read(other())}));
    else
      steps.push_back(dispatch({read_write(chain)}));
  }
  return steps;
}

Steps random_program(unsigned seed) {
  if (seed % 2 == 0) return random_chains(seed);
  return RandomProgram(seed, {.most_steps = 14,
                              .copies = seed % 3 == 0 ? seed % 40 : 0,
                              .unknown = seed % 5 == 0 ? 1U : 0U,
                              .most_accesses = 1 + seed % 3,
                              .buffers = 6 + 2 * (seed % 6)})();
}

TEST(RandomPrograms, spread_over_queues_execute_every_step_once) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    const Steps steps = random_program(seed);
    const Partition partition = detail::spread_over(steps, 4);
    std::vector<std::size_t> all;
    for (const Segment& segment : partition.segments) all.insert(all.end(), segment.steps.begin(), segment.steps.end());
    std::sort(all.begin(), all.end());
    ASSERT_THAT(all, SizeIs(steps.size()));
    for (std::size_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
  }
}

// Sanitizers look at the code, for which fewer programs do.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr unsigned share = 5;
#else
constexpr unsigned share = 1;
#endif

// A program run several times.
TEST(RandomPrograms, spread_over_queues_and_run_several_times_miss_nothing_and_need_every_wait) {
  std::size_t spread = 0;
  std::size_t waits = 0;
  for (unsigned seed = 0; seed < 700 / share; ++seed) {
    const Steps steps = random_program(seed);
    const std::size_t queues = 2 + seed % 4;
    const auto runs_of = [&](const Partition& partition, std::optional<std::size_t> left_out = {}) {
      Program program(steps, partition);
      Runs runs(queues, 1, left_out);
      for (int run = 0; run < 3; ++run) EXPECT_LE(runs.run(program), partition.waits);
      return runs;
    };
    const Partition partition = detail::spread_over(steps, queues);
    spread += partition.queues > 1 ? 1 : 0;
    const Runs runs = runs_of(partition);
    ASSERT_THAT(runs.missing(), Eq(std::nullopt)) << "seed " << seed;
    for (std::size_t wait = 0; wait < runs.waits().size(); ++wait, ++waits)
      ASSERT_NE(runs_of(partition, wait).missing(), std::nullopt) << "seed " << seed << ", wait " << wait;
    ASSERT_THAT(runs_of(detail::partition(steps, queues)).missing(), Eq(std::nullopt)) << "seed " << seed;
  }
  EXPECT_GT(spread, 250 / share);
  EXPECT_GT(waits, 1500 / share);
}

// Several programs, which share most of their buffers, in random order. If `Unknown`, each fifth does not say what it
// touches.
class Mix {
public:
  enum class Unknown { nothing, some };

  Mix(unsigned seed, Unknown unknown) : queues_(2 + seed % 4) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned limit) { return std::uniform_int_distribution(0U, limit - 1)(random); };
    for (unsigned count = 2 + below(3); count > 0; --count) {
      Steps steps = random_program(below(100'000));
      steps.resize(std::min<std::size_t>(steps.size(), 14));
      if (unknown == Unknown::some && below(5) == 0)
        programs_.emplace_back(std::move(steps));
      else
        programs_.emplace_back(steps, detail::spread_over(steps, queues_));
    }
    for (unsigned run = 3 + below(3); run > 0; --run)
      sequence_.push_back(below(static_cast<unsigned>(programs_.size())));
  }

  [[nodiscard]] Runs run(std::size_t recent, std::optional<std::size_t> left_out = {}) const {
    std::vector<Program> programs = programs_;
    Runs runs(queues_, recent, left_out);
    for (const std::size_t program : sequence_) runs.run(programs[program]);
    return runs;
  }

private:
  std::size_t queues_;
  std::vector<Program> programs_;
  std::vector<std::size_t> sequence_;
};

TEST(RandomPrograms, that_run_in_turn_miss_nothing_and_need_every_wait) {
  std::size_t waits = 0;
  std::size_t beside = 0;
  for (unsigned seed = 0; seed < 300 / share; ++seed) {
    const Mix mix(seed, Mix::Unknown::nothing);
    const Runs runs = mix.run(5);
    beside += runs.begun_beside();
    ASSERT_THAT(runs.missing(), Eq(std::nullopt)) << "seed " << seed;
    for (std::size_t wait = 0; wait < runs.waits().size(); ++wait, ++waits)
      ASSERT_NE(mix.run(5, wait).missing(), std::nullopt) << "seed " << seed << ", wait " << wait;
  }
  EXPECT_GT(waits, 2000 / share);
  EXPECT_GT(beside, 50 / share);
}

// Queues always wait for runs before the remembered programs, even without a conflict. They also always wait before and
// behind a program that does not say what it touches.
TEST(RandomPrograms, that_run_behind_what_is_forgotten_or_not_known_miss_nothing_and_wait_for_ends_only_without_need) {
  std::size_t waits = 0;
  std::size_t without_need = 0;
  for (unsigned seed = 0; seed < 300 / share; ++seed) {
    const std::size_t recent = 1 + seed % 2;
    const Mix mix(seed, Mix::Unknown::some);
    const Runs runs = mix.run(recent);
    ASSERT_THAT(runs.missing(), Eq(std::nullopt)) << "seed " << seed;
    for (std::size_t wait = 0; wait < runs.waits().size(); ++wait, ++waits) {
      if (mix.run(recent, wait).missing()) continue;
      ++without_need;
      ASSERT_TRUE(runs.is_end(runs.waits()[wait].submission)) << "seed " << seed << ", wait " << wait;
    }
  }
  EXPECT_GT(waits, 2000 / share);
  EXPECT_LT(without_need, waits / 8);
}

}  // namespace
}  // namespace fastdispatch::test
