#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

#include "softgpu/compute/execution/launch.hpp"
#include "softgpu/compute/run_time/clocks.hpp"
#include "softgpu/compute/run_time/global_wave_sync.hpp"
#include "softgpu/compute/run_time/memory_runtime.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {
namespace {

constexpr std::uint64_t all_lanes = ~std::uint64_t{0};

std::vector<int>& order() {
  static std::vector<int> waves;
  return waves;
}

TEST(WorkGroupRunner, runs_the_wavefronts_of_a_kernel_without_barriers_in_order) {
  order().clear();
  const auto kernel =
      kernel_of([](WaveState* s) { order().push_back(static_cast<int>(s->wave_in_group)); }, Waits::never);
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({256, 1, 1}, {256, 1, 1})), 0));
  EXPECT_EQ(order(), (std::vector<int>{0, 1, 2, 3}));
}

const KernelDescriptor uses_private_memory{.rsrc2 = 1};

TEST(WorkGroupRunner, a_barrier_opens_when_every_wavefront_is_there) {
  order().clear();
  const auto kernel = kernel_of(
      [](WaveState* s) {
        for (int phase = 0; phase < 3; ++phase) {
          order().push_back(phase);
          s->barrier(s);
        }
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({1000, 1, 1}, {1000, 1, 1})), 0));
  EXPECT_EQ(order().size(), 3U * 16);
  EXPECT_TRUE(std::ranges::is_sorted(order()));
}

TEST(WorkGroupRunner, fails_a_launch_that_the_hosts_memory_does_not_suffice_for_and_goes_on) {
  for (const Waits waits : {Waits::never, Waits::at_barriers, Waits::for_anyone}) {
    const auto kernel = kernel_of([](WaveState* s) { order().push_back(static_cast<int>(s->wave_in_group)); }, waits,
                                  uses_private_memory);
    WorkGroupRunner runner(0);
    auto packet = packet_of({256, 1, 1}, {128, 1, 1});
    packet.private_segment_size = 0xfffffff0;
    const auto failure = runner.run(*launch_of(kernel, packet), 1);
    if (!failure) FAIL() << "ran";
    EXPECT_EQ(failure->kind, Failure::Kind::host_memory);
    EXPECT_EQ(failure->text, "the host has no memory left for work-group (1, 0, 0)");

    order().clear();
    packet.private_segment_size = 16;
    EXPECT_FALSE(runner.run(*launch_of(kernel, packet), 1));
    EXPECT_EQ(order(), (std::vector<int>{0, 1}));
  }
}

TEST(WorkGroupRunner, a_wavefront_that_ended_counts_as_arrived_at_the_barrier) {
  order().clear();
  const auto kernel = kernel_of(
      [](WaveState* s) {
        for (unsigned i = 0; i < s->wave_in_group; ++i) s->barrier(s);
        order().push_back(static_cast<int>(s->wave_in_group));
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({8, 8, 8}, {8, 8, 8})), 0));
  EXPECT_EQ(order(), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(WorkGroupRunner, barriers_keep_phases_apart_also_when_wavefronts_end_before_others) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        const unsigned phases = 1 + (s->wave_in_group * 7 + 3) % 5;
        for (unsigned phase = 0; phase != phases; ++phase) {
          order().push_back(static_cast<int>(phase * 100 + s->wave_in_group));
          s->barrier(s);
        }
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  for (int waves = 1; waves <= 16; ++waves) {
    const auto items = static_cast<std::uint16_t>(waves * 64);
    order().clear();
    EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({items, 1, 1}, {items, 1, 1})), 0));
    std::vector<int> expected;
    for (int phase = 0; phase != 5; ++phase)
      for (int wave = 0; wave != waves; ++wave)
        if (phase < 1 + (wave * 7 + 3) % 5) expected.push_back(phase * 100 + wave);
    EXPECT_TRUE(std::ranges::is_sorted(order(), {}, [](int arrival) { return arrival / 100; }));
    std::ranges::sort(order());
    EXPECT_EQ(order(), expected) << waves << " wavefronts";
  }
}

TEST(WorkGroupRunner, barriers_keep_phases_apart_also_when_wavefronts_let_others_run_before_them) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        const unsigned wave = s->wave_in_group;
        for (unsigned phase = 0; phase != 4 + wave % 5; ++phase) {
          for (unsigned times = (wave * 5 + phase * 3) % 7; times > 4; --times) s->yield(s);
          order().push_back(static_cast<int>(phase));
          s->barrier(s);
        }
      },
      Waits::for_anyone);
  WorkGroupRunner runner(0);
  for (int waves = 1; waves <= 16; ++waves) {
    const auto items = static_cast<std::uint16_t>(waves * 64);
    order().clear();
    EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({items, 1, 1}, {items, 1, 1})), 0));
    EXPECT_TRUE(std::ranges::is_sorted(order())) << waves << " wavefronts";
    for (int phase = 0; phase != 8; ++phase) {
      int expected = 0;
      for (int wave = 0; wave != waves; ++wave) expected += phase < 4 + wave % 5 ? 1 : 0;
      EXPECT_EQ(std::ranges::count(order(), phase), expected) << waves << " wavefronts, phase " << phase;
    }
  }
}

TEST(WorkGroupRunner, a_barrier_stays_closed_for_a_wavefront_that_waits_for_other_work_groups) {
  order().clear();
  const auto kernel = kernel_of(
      [](WaveState* s) {
        const auto raise = static_cast<std::uint32_t>(GlobalSync::raise);
        const auto lower = static_cast<std::uint32_t>(GlobalSync::lower);
        if (s->sgprs[0] == 1) return s->sync_globally(s, raise, 0, 0);
        if (s->wave_in_group == 1) s->sync_globally(s, lower, 0, 0);
        order().push_back(static_cast<int>(s->wave_in_group));
        s->barrier(s);
        order().push_back(10 + static_cast<int>(s->wave_in_group));
      },
      Waits::for_anyone, KernelDescriptor{.rsrc2 = 1 << 7});  // the work-group's id is in SGPR 0
  GlobalWaveSync sync;
  QueueView queue;
  queue.global_sync = &sync;
  const auto launch = launch_of(kernel, packet_of({193, 1, 1}, {192, 1, 1}), queue);
  WorkGroupRunner runner(0);
  auto outcome = runner.start(*launch, 0);
  ASSERT_TRUE(std::holds_alternative<std::unique_ptr<SuspendedGroup>>(outcome));
  EXPECT_EQ(order(), (std::vector<int>{0, 2}));
  EXPECT_FALSE(WorkGroupRunner(1).run(*launch, 1));
  outcome = runner.resume(std::get<std::unique_ptr<SuspendedGroup>>(std::move(outcome)));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(outcome));
  std::sort(order().end() - 3, order().end());
  EXPECT_EQ(order(), (std::vector<int>{0, 2, 1, 10, 11, 12}));
}

TEST(WorkGroupRunner, a_wavefront_alone_in_its_work_group_passes_barriers) {
  order().clear();
  const auto kernel = kernel_of(
      [](WaveState* s) {
        s->barrier(s);
        order().push_back(1);
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({64, 1, 1}, {64, 1, 1})), 0));
  EXPECT_EQ(order().size(), 1U);
}

TEST(WorkGroupRunner, a_sleeping_wavefront_waits_for_what_another_does) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        auto* flag = std::bit_cast<std::uint32_t*>(s->lds);
        if (s->wave_in_group == 0) {
          *flag = 0;
          while (*static_cast<volatile std::uint32_t*>(flag) == 0) s->yield(s);
        } else {
          *flag = 1;
        }
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  auto packet = packet_of({128, 1, 1}, {128, 1, 1});
  packet.group_segment_size = 4;
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet), 0));
}

using Suspended = std::unique_ptr<SuspendedGroup>;

std::atomic<std::uint32_t>& gate() {
  static std::atomic<std::uint32_t> value;
  return value;
}

/// Writes to LDS, waits for the gate, and looks whether LDS is as it was.
void wait_at_gate(WaveState* s) {
  const auto mark = static_cast<std::byte>(s->sgprs[0] * 16 + s->wave_in_group);
  s->lds[s->wave_in_group] = mark;
  while (gate() == 0) s->yield(s);
  EXPECT_EQ(s->lds[s->wave_in_group], mark);
  ++gate();
}

TEST(WorkGroupRunner, a_work_group_that_waits_for_others_is_set_aside_with_its_lds) {
  gate() = 0;
  KernelDescriptor descriptor;
  descriptor.rsrc2 = 1 << 7;  // the work-group's id is in SGPR 0
  auto packet = packet_of({640, 1, 1}, {128, 1, 1});
  packet.group_segment_size = 16;
  const auto launch = launch_of(kernel_of(wait_at_gate, Waits::for_anyone, descriptor), packet);
  WorkGroupRunner runner(0);
  std::vector<Suspended> waiting;
  for (std::uint64_t group = 0; group < launch->group_count(); ++group) {
    auto outcome = runner.start(*launch, group);
    ASSERT_TRUE(std::holds_alternative<Suspended>(outcome));
    waiting.push_back(std::get<Suspended>(std::move(outcome)));
  }
  auto again = runner.resume(std::move(waiting[0]));
  ASSERT_TRUE(std::holds_alternative<Suspended>(again));
  EXPECT_FALSE(std::get<Suspended>(again)->got_on());
  waiting[0] = std::get<Suspended>(std::move(again));
  gate() = 1;
  std::thread([&] {  // the thread does not matter
    WorkGroupRunner other(1);
    for (Suspended& group : waiting)
      EXPECT_TRUE(std::holds_alternative<std::monostate>(other.resume(std::move(group))));
  })
      .join();
  EXPECT_EQ(gate(), 1U + 10);
}

TEST(WorkGroupRunner, a_work_group_that_was_set_aside_can_be_ended) {
  gate() = 0;
  const auto launch = launch_of(kernel_of(wait_at_gate, Waits::for_anyone), packet_of({64, 1, 1}, {64, 1, 1}));
  WorkGroupRunner runner(0);
  auto first = runner.start(*launch, 0);
  EXPECT_EQ(std::get<Suspended>(first)->end().kind, Failure::Kind::interrupted);
  auto second = runner.start(*launch, 0);
  EXPECT_TRUE(std::holds_alternative<Suspended>(second));  // its destructor ends it
}

/// A loop that looks at memory without any hint, and whose turns are over after every look.
void poll_lds(WaveState* s) {
  auto* const flag = std::bit_cast<volatile std::uint32_t*>(s->lds);
  if (s->wave_in_group == 0) *flag = 0;
  if (s->wave_in_group + 1 == s->group->waves())
    *flag = 1;
  else
    while (*flag == 0) s->end_turn(s);
  order().push_back(static_cast<int>(s->wave_in_group));
}

TEST(WorkGroupRunner, a_loop_lets_the_other_wavefronts_run_when_its_turn_is_over) {
  auto packet = packet_of({384, 1, 1}, {192, 1, 1});
  packet.group_segment_size = 4;
  for (const Waits waits : {Waits::for_turns, Waits::at_barriers, Waits::for_anyone}) {
    order().clear();
    WorkGroupRunner runner(0);
    const auto launch = launch_of(kernel_of(poll_lds, waits), packet);
    EXPECT_FALSE(runner.run(*launch, 0));
    EXPECT_FALSE(runner.run(*launch, 1));
    EXPECT_EQ(order(), (std::vector<int>{2, 0, 1, 2, 0, 1}));
  }
}

TEST(WorkGroupRunner, a_work_group_that_takes_long_is_set_aside_and_the_ones_behind_it_run) {
  gate() = 0;
  KernelDescriptor descriptor;
  descriptor.rsrc2 = 1 << 7;  // the work-group's id is in SGPR 0
  const auto kernel = kernel_of(
      [](WaveState* s) {
        std::array<std::uint32_t, 64> private_memory{};  // on the wavefront's stack, as registers may be
        private_memory.fill(s->sgprs[0]);
        const auto mark = static_cast<std::byte>(s->sgprs[0]);
        s->lds[0] = mark;
        while (s->sgprs[0] == 2 && gate() == 0) s->end_turn(s);
        EXPECT_EQ(s->lds[0], mark);
        EXPECT_EQ(s->group->id[0], s->sgprs[0]);
        EXPECT_TRUE(std::ranges::all_of(private_memory, [&](std::uint32_t value) { return value == s->sgprs[0]; }));
        order().push_back(static_cast<int>(s->sgprs[0] * 10 + s->wave_in_group));
      },
      Waits::for_turns, descriptor);
  auto packet = packet_of({640, 1, 1}, {128, 1, 1});
  packet.group_segment_size = 4;
  const auto launch = launch_of(kernel, packet);
  order().clear();
  WorkGroupRunner runner(0);
  std::uint64_t next = 1;
  auto outcome = runner.start(*launch, next, 5);
  ASSERT_TRUE(std::holds_alternative<Suspended>(outcome));
  auto paused = std::get<Suspended>(std::move(outcome));
  EXPECT_TRUE(paused->can_go_on());
  EXPECT_EQ(next, 3U);
  EXPECT_TRUE(std::holds_alternative<std::monostate>(runner.start(*launch, next, 5)));
  EXPECT_EQ(next, 5U);
  gate() = 1;
  std::thread([&] {
    WorkGroupRunner other(1);
    EXPECT_TRUE(std::holds_alternative<std::monostate>(other.resume(std::move(paused))));
  }).join();
  std::sort(order().end() - 2, order().end());  // whichever of the two had its turn when the work-group's was over
  EXPECT_EQ(order(), (std::vector<int>{10, 11, 30, 31, 40, 41, 20, 21}));
}

TEST(WorkGroupRunner, a_loop_of_barriers_that_takes_long_is_set_aside) {
  gate() = 0;
  const auto kernel = kernel_of(
      [](WaveState* s) {
        while (gate() == 0) {
          s->barrier(s);
          runtime::look_at_clock(s);
        }
      },
      Waits::at_barriers);
  const auto launch = launch_of(kernel, packet_of({192, 1, 1}, {192, 1, 1}));
  WorkGroupRunner runner(0);
  auto outcome = runner.start(*launch, 0);
  ASSERT_TRUE(std::holds_alternative<Suspended>(outcome));
  EXPECT_TRUE(std::get<Suspended>(outcome)->can_go_on());
  gate() = 1;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(runner.resume(std::get<Suspended>(std::move(outcome)))));
}

TEST(WorkGroupRunner, a_work_group_whose_turn_was_over_can_be_ended) {
  const auto launch = launch_of(kernel_of(
                                    [](WaveState* s) {
                                      for (;;) s->end_turn(s);
                                    },
                                    Waits::for_turns),
                                packet_of({64, 1, 1}, {64, 1, 1}));
  WorkGroupRunner runner(0);
  auto first = runner.start(*launch, 0);
  EXPECT_EQ(std::get<Suspended>(first)->end().kind, Failure::Kind::interrupted);
  auto second = runner.start(*launch, 0);
  EXPECT_TRUE(std::holds_alternative<Suspended>(second));  // its destructor ends it
}

TEST(WorkGroupRunner, only_work_items_that_exist_are_enabled) {
  static std::vector<std::uint64_t> masks;
  masks.clear();
  const auto kernel = kernel_of([](WaveState* s) { masks.push_back(s->exec); }, Waits::never);
  const auto launch = launch_of(kernel, packet_of({150, 1, 1}, {100, 1, 1}));
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch, 0));
  EXPECT_FALSE(runner.run(*launch, 1));
  EXPECT_EQ(masks, (std::vector<std::uint64_t>{all_lanes, (std::uint64_t{1} << 36) - 1, (std::uint64_t{1} << 50) - 1}));
}

TEST(WorkGroupRunner, wavefronts_of_a_work_group_share_lds_of_the_size_asked_for) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        ASSERT_EQ(s->lds_bytes, 1024U);
        s->lds[s->wave_in_group] = std::byte{static_cast<unsigned char>(s->wave_in_group)};
        s->barrier(s);
        for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(std::to_integer<unsigned>(s->lds[i]), i);
      },
      Waits::at_barriers);
  auto packet = packet_of({256, 1, 1}, {256, 1, 1});
  packet.group_segment_size = 600;
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet), 0));
}

const volatile std::uint64_t wild_address = 0x10;  // volatile: the compiler would object

// As in translated code, no sanitizer looks at the store: threads that store to the same wild address do not race.
__attribute__((no_sanitize("address", "thread", "undefined"))) void store_to_wild_address(WaveState*) {
  *std::bit_cast<volatile std::uint32_t*>(std::uint64_t{wild_address}) = 1;
}

TEST(WorkGroupRunner, a_wild_store_ends_the_work_group_and_names_the_address) {
  const auto kernel = kernel_of(store_to_wild_address, Waits::never);
  const auto launch = launch_of(kernel, packet_of({64, 2, 1}, {64, 1, 1}));
  WorkGroupRunner runner(0);
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto failure = runner.run(*launch, 1);
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind, Failure::Kind::memory_fault);
    EXPECT_EQ(failure->address, wild_address);
    EXPECT_EQ(failure->text, "address 0x10 is not mapped; accessed by wavefront 0 of work-group (0, 1, 0)");
  }
}

TEST(WorkGroupRunner, a_fault_in_one_wavefront_ends_those_that_wait_at_a_barrier) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        if (s->wave_in_group == 2) store_to_wild_address(s);
        s->barrier(s);
        ADD_FAILURE() << "the barrier opened";
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  const auto failure = runner.run(*launch_of(kernel, packet_of({256, 1, 1}, {256, 1, 1})), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::memory_fault);

  order().clear();
  const auto sound = kernel_of(
      [](WaveState* s) {
        s->barrier(s);
        order().push_back(0);
      },
      Waits::at_barriers);
  EXPECT_FALSE(runner.run(*launch_of(sound, packet_of({256, 1, 1}, {256, 1, 1})), 0));
  EXPECT_EQ(order().size(), 4U);
}

TEST(WorkGroupRunner, a_failure_behind_a_barrier_names_the_wavefront_and_ends_the_others) {
  order().clear();
  const auto kernel = kernel_of(
      [](WaveState* s) {
        s->barrier(s);
        order().push_back(static_cast<int>(s->wave_in_group));
        if (s->wave_in_group == 2) s->trap(s, 2, 0x40);
        s->barrier(s);
        ADD_FAILURE() << "the second barrier opened";
      },
      Waits::at_barriers);
  WorkGroupRunner runner(0);
  const auto failure = runner.run(*launch_of(kernel, packet_of({256, 1, 1}, {256, 1, 1})), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "s_trap at offset 0x40, executed by wavefront 2 of work-group (0, 0, 0)");
  EXPECT_EQ(order(), (std::vector<int>{0, 1, 2}));
}

TEST(WorkGroupRunner, a_trap_before_the_entry_has_a_negative_offset) {
  const auto kernel = kernel_of([](WaveState* s) { s->trap(s, 2, -0xb48); }, Waits::never);
  WorkGroupRunner runner(0);
  const auto failure = runner.run(*launch_of(kernel, packet_of({64, 1, 1}, {64, 1, 1})), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text, "s_trap at offset -0xb48, executed by wavefront 0 of work-group (0, 0, 0)");
}

TEST(WorkGroupRunner, an_access_before_private_memory_is_an_overrun_of_it) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        s->lane_addresses[0] = ~std::uint64_t{3};  // -4: its end is within
        runtime::load(s, 1, s->scratch_wave_base, runtime::Segment::scratch, 0, 8);
      },
      Waits::never, uses_private_memory);
  auto packet = packet_of({64, 1, 1}, {64, 1, 1});
  packet.private_segment_size = 64;
  WorkGroupRunner runner(0);
  const auto failure = runner.run(*launch_of(kernel, packet), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::private_memory);
}

TEST(WorkGroupRunner, a_trap_ends_the_work_group) {
  const auto kernel = kernel_of([](WaveState* s) { s->trap(s, 2, 0x40); }, Waits::at_barriers);
  WorkGroupRunner runner(0);
  const auto failure = runner.run(*launch_of(kernel, packet_of({256, 1, 1}, {256, 1, 1})), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::trap);
  EXPECT_EQ(failure->instruction, 0x40U);
}

TEST(WorkGroupRunner, faults_on_several_threads_at_once_stay_apart) {
  const auto kernel = kernel_of(store_to_wild_address, Waits::at_barriers);
  const auto launch = launch_of(kernel, packet_of({128, 1, 1}, {128, 1, 1}));
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&, worker] {
      WorkGroupRunner runner(worker);
      for (int i = 0; i < 50; ++i) failures += runner.run(*launch, 0) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 200);
}

TEST(WorkGroupRunnerDeathTest, a_fault_outside_of_a_kernel_still_kills_the_process) {
  const auto kernel = kernel_of([](WaveState*) {}, Waits::never);
  WorkGroupRunner runner(0);
  EXPECT_FALSE(runner.run(*launch_of(kernel, packet_of({64, 1, 1}, {64, 1, 1})), 0));
  EXPECT_DEATH(store_to_wild_address(nullptr), "");
}

std::set<std::uint64_t>& scratch_bases() {
  static std::set<std::uint64_t> bases;
  return bases;
}

TEST(WorkGroupRunner, every_wavefront_of_every_worker_has_scratch_of_its_own) {
  scratch_bases().clear();
  const auto kernel = kernel_of(
      [](WaveState* s) {
        std::memset(std::bit_cast<void*>(s->scratch_wave_base), 1, std::size_t{s->scratch_bytes_per_lane} * 64);
        scratch_bases().insert(s->scratch_wave_base);
      },
      Waits::never, uses_private_memory);
  auto packet = packet_of({1024, 1, 1}, {1024, 1, 1});
  packet.private_segment_size = 100;
  std::vector<std::byte> memory(std::size_t{2} * 16 * 64 * 112);
  QueueView queue;
  queue.scratch_base = std::bit_cast<std::uint64_t>(memory.data());
  queue.scratch_bytes = memory.size();
  queue.scratch_bytes_per_lane = 112;
  const auto launch = launch_of(kernel, packet, queue);
  // The queue has slots for two workers; the third one brings its own.
  std::array<WorkGroupRunner, 3> runners = {WorkGroupRunner(0), WorkGroupRunner(1), WorkGroupRunner(2)};
  for (WorkGroupRunner& runner : runners) EXPECT_FALSE(runner.run(*launch, 0));
  EXPECT_EQ(scratch_bases().size(), 3U * 16);
  const auto inside = std::ranges::count_if(scratch_bases(), [&](std::uint64_t base) {
    return base >= queue.scratch_base && base < queue.scratch_base + queue.scratch_bytes;
  });
  EXPECT_EQ(inside, 2 * 16);
}

}  // namespace
}  // namespace softgpu::compute
