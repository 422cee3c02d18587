// Wavefronts that translated code runs in the call of the one before them.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <variant>
#include <vector>

#include "softgpu/compute/execution/launch.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {
namespace {

/// What a wavefront began with.
struct Beginning {
  std::uint32_t group_x, group_y, wave, first_id;
  std::uint64_t exec;
  bool operator==(const Beginning&) const = default;
};

std::vector<Beginning>& beginnings() {
  static std::vector<Beginning> all;
  return all;
}

void note_beginning(const WaveState& s) {
  beginnings().push_back({s.sgprs[0], s.sgprs[1], s.wave_in_group, s.work_item_ids[0], s.exec});
}

/// As translated code does (emit/following_waves.cpp).
bool go_on_behind(WaveState& s) {
  if (s.waves_behind == 0) return false;
  --s.waves_behind;
  const bool begins_group = ++s.wave_in_group == s.waves_in_group;
  if (begins_group) s.wave_in_group = 0;
  std::uint32_t group_id = 0;
  std::byte* place = reinterpret_cast<std::byte*>(&s) + s.group_id_place;
  std::memcpy(&group_id, place, sizeof group_id);
  group_id += begins_group ? 1 : 0;
  std::memcpy(place, &group_id, sizeof group_id);
  s.work_item_ids = s.group_ids + std::size_t{64} * s.wave_in_group;
  return true;
}

TEST(FollowingWaves, code_may_run_the_wavefronts_behind_one_in_the_same_call) {
  static int calls = 0;
  const KernelDescriptor asks_for_group_ids{.rsrc2 = 3 << 7};  // in SGPRs 0 and 1
  const auto one_a_call = kernel_of([](WaveState* s) { note_beginning(*s); }, Waits::never, asks_for_group_ids);
  const auto several = kernel_of(
      [](WaveState* s) {
        ++calls;
        do note_beginning(*s);
        while (go_on_behind(*s));
      },
      Waits::never, asks_for_group_ids);
  struct GridAndGroup {
    std::array<std::uint32_t, 3> grid;
    std::array<std::uint16_t, 3> group;
    int calls;
  };
  for (const GridAndGroup& shape :
       {GridAndGroup{{640, 1, 1}, {128, 1, 1}, 1}, GridAndGroup{{640, 3, 1}, {128, 1, 1}, 3},
        GridAndGroup{{600, 1, 1}, {128, 1, 1}, 3}, GridAndGroup{{500, 1, 1}, {100, 1, 1}, 10},
        GridAndGroup{{40, 20, 1}, {16, 8, 1}, 7}, GridAndGroup{{64, 1, 1}, {64, 1, 1}, 1},
        GridAndGroup{{64, 12, 1}, {16, 16, 1}, 12}}) {
    const auto run = [&](const std::shared_ptr<const Kernel>& kernel) {
      beginnings().clear();
      const auto launch = launch_of(kernel, packet_of(shape.grid, shape.group));
      std::uint64_t begin = 0;
      WorkGroupRunner runner(0);
      EXPECT_TRUE(std::holds_alternative<std::monostate>(runner.start(*launch, begin, launch->group_count())));
      EXPECT_EQ(begin, launch->group_count());
      return beginnings();
    };
    calls = 0;
    EXPECT_EQ(run(several), run(one_a_call)) << shape.grid[0];
    EXPECT_EQ(calls, shape.calls) << shape.grid[0];
  }
}

TEST(FollowingWaves, a_failure_of_a_wavefront_behind_tells_its_work_group) {
  const auto kernel = kernel_of(
      [](WaveState* s) {
        do
          if (s->sgprs[0] == 3 && s->wave_in_group == 1) s->trap(s, 2, 0);
        while (go_on_behind(*s));
      },
      Waits::never, KernelDescriptor{.rsrc2 = 1 << 7});
  const auto launch = launch_of(kernel, packet_of({640, 1, 1}, {128, 1, 1}));
  std::uint64_t begin = 0;
  WorkGroupRunner runner(0);
  const auto outcome = runner.start(*launch, begin, launch->group_count());
  ASSERT_TRUE(std::holds_alternative<Failure>(outcome));
  EXPECT_NE(std::get<Failure>(outcome).text.find("wavefront 1 of work-group (3, 0, 0)"), std::string::npos)
      << std::get<Failure>(outcome).text;
  EXPECT_EQ(begin, 3U);
}

}  // namespace
}  // namespace softgpu::compute
