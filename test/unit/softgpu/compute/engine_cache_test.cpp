// Engines that keep host code in a folder, as different processes would.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include "descriptor_and_code.hpp"
#include "softgpu/compute/execution/engine.hpp"
#include "softgpu/compute/host_code/kernel_cache.hpp"
#include "temporary_folder.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {
namespace {

namespace fs = std::filesystem;

/// An engine that begins with nothing but the folder, as a new process does.
struct NewEngine {
  explicit NewEngine(const std::string& folder, HostCpu cpu = HostCpu::host, Optimize optimize = Optimize::yes)
      : engine({.cpu = cpu, .optimize = optimize, .cache_folder = folder, .log = [this](std::string_view line) {
                  const std::lock_guard lock(mutex);
                  lines.emplace_back(line);
                }}) {}

  std::shared_ptr<const Kernel> kernel(const DescriptorAndCode& image) {
    auto result = engine.kernel(image.address());
    EXPECT_TRUE(std::holds_alternative<std::shared_ptr<const Kernel>>(result));
    return std::get<std::shared_ptr<const Kernel>>(result);
  }
  /// How the kernel ends: the trap's text, or nothing.
  std::string outcome(const DescriptorAndCode& image) {
    auto packet = packet_of({64, 1, 1}, {64, 1, 1});
    packet.kernel_object = image.address();
    WorkGroupRunner runner(0);
    const auto failure = runner.run(*launch_of(kernel(image), packet), 0);
    return failure ? failure->text : "";
  }
  [[nodiscard]] std::ptrdiff_t count(std::string_view what) {
    const std::lock_guard lock(mutex);
    return std::ranges::count_if(lines, [&](const std::string& line) { return line.find(what) != std::string::npos; });
  }

  std::mutex mutex;
  std::vector<std::string> lines;
  Engine engine;
};

std::vector<fs::path> files_of(const TemporaryFolder& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder.path())) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

TEST(EngineCache, a_new_engine_takes_a_kernel_from_the_folder) {
  const TemporaryFolder folder;
  const DescriptorAndCode image({s_trap_2, s_endpgm});
  NewEngine first(folder.name());
  const std::string outcome = first.outcome(image);
  EXPECT_NE(outcome, "");
  EXPECT_EQ(first.count("translated"), 1);
  NewEngine second(folder.name());
  EXPECT_EQ(second.outcome(image), outcome);
  EXPECT_EQ(second.count("translated"), 0);
  EXPECT_EQ(second.count("from the cache"), 1);
}

TEST(EngineCache, the_instruction_that_faulted_is_known_of_kept_code) {
  const TemporaryFolder folder;
  constexpr std::array<std::uint32_t, 2> global_store_dword = {0xdc708000, 0x007f0000};  // v[0:1], v0, off
  const DescriptorAndCode image({global_store_dword[0], global_store_dword[1], s_endpgm});
  auto packet = packet_of({64, 1, 1}, {64, 1, 1});
  packet.kernel_object = image.address();
  for (const Optimize optimize : {Optimize::yes, Optimize::yes, Optimize::no, Optimize::no}) {
    NewEngine engine(folder.name(), HostCpu::host, optimize);
    WorkGroupRunner runner(0);
    const auto failure = runner.run(*launch_of(engine.kernel(image), packet), 0);
    ASSERT_TRUE(failure);
    EXPECT_NE(engine.engine.place_of(image.address(), *failure).find("global_store_dword"), std::string::npos)
        << engine.engine.place_of(image.address(), *failure) << ", " << engine.lines.front();
  }
}

TEST(EngineCache, what_is_kept_says_whether_a_kernel_waits) {
  const TemporaryFolder folder;
  const DescriptorAndCode waits({s_barrier, s_endpgm});
  const DescriptorAndCode never_waits({s_endpgm});
  for (int round = 0; round < 2; ++round) {
    NewEngine engine(folder.name());
    EXPECT_EQ(engine.kernel(waits)->waits_for(), WaitsFor::work_group);
    EXPECT_EQ(engine.kernel(never_waits)->waits_for(), WaitsFor::nothing);
  }
}

TEST(EngineCache, other_code_is_another_kernel) {
  const TemporaryFolder folder;
  const std::string two = NewEngine(folder.name()).outcome(DescriptorAndCode({s_trap_2, s_endpgm}));
  NewEngine engine(folder.name());
  EXPECT_NE(engine.outcome(DescriptorAndCode({s_nop, s_trap_2, s_endpgm})), two);
  EXPECT_EQ(engine.count("from the cache"), 0);
}

TEST(EngineCache, another_floating_point_mode_is_another_kernel) {
  const TemporaryFolder folder;
  static_cast<void>(NewEngine(folder.name()).kernel(DescriptorAndCode({s_endpgm})));
  NewEngine engine(folder.name());
  static_cast<void>(engine.kernel(DescriptorAndCode({s_endpgm}, 3U << 16)));
  EXPECT_EQ(engine.count("translated"), 1);
}

TEST(EngineCache, another_cpu_is_another_kernel) {
  if (!host_cpu_named("avx2")) GTEST_SKIP() << "this machine has no AVX2";
  const TemporaryFolder folder;
  const DescriptorAndCode image({s_trap_2, s_endpgm});
  static_cast<void>(NewEngine(folder.name()).kernel(image));
  NewEngine engine(folder.name(), HostCpu::avx2);
  static_cast<void>(engine.kernel(image));
  EXPECT_EQ(engine.count("translated"), 1);
}

/// LLVM would make such code of gathers and scatters, four times as large and more, and take minutes for large kernels.
TEST(EngineCache, code_for_avx2_has_no_branch_for_each_lane) {
  if (!host_cpu_named("avx2") || !host_cpu_named("avx512")) GTEST_SKIP() << "this machine has no AVX-512";
  constexpr std::uint32_t s_mov_b64_exec_s0 = 0xbefe0100;
  constexpr std::array<std::array<std::uint32_t, 4>, 2> accesses = {{
      // global_load_dwordx4 v[4:7], v[2:3], off; global_store_dwordx4 v[2:3], v[4:7], off
      {0xdc5c8000, 0x047f0002, 0xdc7c8000, 0x007f0402},
      // global_load_ushort v4, v[2:3], off; global_store_short v[2:3], v4, off
      {0xdc488000, 0x047f0002, 0xdc688000, 0x007f0402},
  }};
  const auto size = [](HostCpu cpu, const DescriptorAndCode& image) {
    const TemporaryFolder folder;
    static_cast<void>(NewEngine(folder.name(), cpu).kernel(image));
    return fs::file_size(files_of(folder).at(0));
  };
  for (const auto& access : accesses) {
    std::vector<std::uint32_t> code = {s_mov_b64_exec_s0};
    code.insert(code.end(), access.begin(), access.end());
    code.push_back(s_endpgm);
    EXPECT_LE(2 * size(HostCpu::avx2, DescriptorAndCode(code)), 7 * size(HostCpu::avx512, DescriptorAndCode(code)));
  }
}

TEST(EngineCache, a_damaged_file_is_replaced) {
  const TemporaryFolder folder;
  const DescriptorAndCode image({s_trap_2, s_endpgm});
  const std::string outcome = NewEngine(folder.name()).outcome(image);
  fs::resize_file(files_of(folder).at(0), fs::file_size(files_of(folder).at(0)) / 2);
  NewEngine second(folder.name());
  EXPECT_EQ(second.outcome(image), outcome);
  EXPECT_EQ(second.count("is damaged"), 1);
  EXPECT_EQ(second.count("translated"), 1);
  NewEngine third(folder.name());
  EXPECT_EQ(third.outcome(image), outcome);
  EXPECT_EQ(third.count("from the cache"), 1);
}

TEST(EngineCache, a_sound_file_that_holds_no_object_is_replaced) {
  const TemporaryFolder folder;
  const DescriptorAndCode image({s_trap_2, s_endpgm});
  const std::string outcome = NewEngine(folder.name()).outcome(image);
  const std::string name = files_of(folder).at(0).stem().string();
  KernelCache::Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) std::from_chars(&name[2 * i], &name[2 * i] + 2, key[i], 16);
  for (const char* content : {"", "-", "wno object file"}) {
    KernelCache(folder.name(), 1 << 20, {}).store(key, content);
    NewEngine engine(folder.name());
    EXPECT_EQ(engine.outcome(image), outcome);
    EXPECT_EQ(engine.count("translated"), 1) << content;
  }
  EXPECT_EQ(files_of(folder).size(), 1U);
}

// --- Code that is there soon

constexpr std::uint32_t v_mov_v1_7 = 0x7e020287;
constexpr std::uint32_t v_mov_v2_7 = 0x7e040287;
constexpr std::uint32_t v_add_f32_v1_v0_v1 = 0x02020300;
constexpr std::uint32_t v_add_f32_v3_v2_v3 = 0x02060702;

/// 65,536 rounds of a loop, then a trap.
const DescriptorAndCode& long_kernel() {
  static const DescriptorAndCode image({0xbe8000ff, 0x00010000,  // s_mov_b32 s0, 0x10000
                                        0x80808100,              // s_sub_u32 s0, s0, 1
                                        0xbf078000,              // s_cmp_lg_u32 s0, 0
                                        0xbf85fffd,              // s_cbranch_scc1, two words back
                                        s_trap_2, s_endpgm});
  return image;
}

TEST(EngineCache, a_kernel_that_has_run_for_a_while_is_optimized) {
  const TemporaryFolder folder;
  NewEngine first(folder.name(), HostCpu::host, Optimize::later);
  const auto kernel = first.kernel(long_kernel());
  EXPECT_FALSE(kernel->wave().is_optimized);
  const std::string outcome = first.outcome(long_kernel());
  EXPECT_NE(outcome, "");
  while (!kernel->wave().is_optimized) ASSERT_EQ(first.outcome(long_kernel()), outcome);
  EXPECT_EQ(first.outcome(long_kernel()), outcome);
  EXPECT_EQ(first.kernel(long_kernel()), kernel);
  EXPECT_EQ(kernel->provisional(), nullptr);

  NewEngine second(folder.name(), HostCpu::host, Optimize::later);
  EXPECT_TRUE(second.kernel(long_kernel())->wave().is_optimized);
  EXPECT_EQ(second.count("from the cache"), 1);
  NewEngine never(folder.name(), HostCpu::host, Optimize::no);
  EXPECT_FALSE(never.kernel(long_kernel())->wave().is_optimized);
  EXPECT_EQ(never.kernel(long_kernel())->provisional(), nullptr);
}

TEST(EngineCache, kernels_share_the_functions_that_they_call) {
  const TemporaryFolder folder;
  const DescriptorAndCode image({v_mov_v1_7, v_add_f32_v1_v0_v1, s_endpgm});
  const DescriptorAndCode in_other_registers({v_mov_v2_7, v_add_f32_v3_v2_v3, v_mov_v1_7, s_endpgm});
  static_cast<void>(NewEngine(folder.name(), HostCpu::host, Optimize::no).kernel(image));
  EXPECT_EQ(files_of(folder).size(), 4U);  // the kernel's, the functions', and a place for each function
  NewEngine second(folder.name(), HostCpu::host, Optimize::no);
  static_cast<void>(second.kernel(in_other_registers));
  EXPECT_EQ(second.count("translated"), 1);
  EXPECT_EQ(files_of(folder).size(), 5U);
  static_cast<void>(second.kernel(image));
  EXPECT_EQ(second.count("from the cache"), 1);
}

TEST(EngineCache, a_kernel_without_the_functions_that_it_calls_is_translated_again) {
  constexpr std::uintmax_t at_most_a_place = 200;  // bytes
  const DescriptorAndCode image({v_mov_v1_7, v_add_f32_v1_v0_v1, s_endpgm});
  for (std::size_t n = 0; n < 4; ++n) {
    const TemporaryFolder folder;
    static_cast<void>(NewEngine(folder.name(), HostCpu::host, Optimize::no).kernel(image));
    const auto files = files_of(folder);
    ASSERT_EQ(files.size(), 4U);
    const fs::path& file = files[n];
    const bool is_needed = fs::file_size(file) > at_most_a_place;  // places are for other kernels
    fs::remove(file);
    NewEngine engine(folder.name(), HostCpu::host, Optimize::no);
    static_cast<void>(engine.kernel(image));
    EXPECT_EQ(engine.count("translated"), is_needed ? 1 : 0);
    EXPECT_EQ(fs::exists(file), is_needed);
  }
}

TEST(EngineCache, what_is_refused_is_not_kept) {
  const TemporaryFolder folder;
  const DescriptorAndCode image({s_sendmsg_save_wave, s_endpgm});
  NewEngine engine(folder.name());
  EXPECT_TRUE(std::holds_alternative<Failure>(engine.engine.kernel(image.address())));
  EXPECT_TRUE(files_of(folder).empty());
}

TEST(EngineCache, a_folder_that_cannot_be_made_only_costs_time) {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "file").put('x');
  NewEngine engine(folder.name() + "/file/cache");
  EXPECT_NE(engine.outcome(DescriptorAndCode({s_trap_2, s_endpgm})), "");
  EXPECT_EQ(engine.count("no folder"), 1);
}

TEST(EngineCache, threads_translate_different_kernels_at_once) {
  const TemporaryFolder folder;
  std::vector<DescriptorAndCode> images;
  for (std::size_t before = 0; before < 8; ++before) {
    std::vector<std::uint32_t> code(before, s_nop);
    code.insert(code.end(), {s_trap_2, s_endpgm});
    images.emplace_back(code);
  }
  for (int round = 0; round < 2; ++round) {
    NewEngine engine(folder.name());
    std::vector<std::string> outcomes(images.size());
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < images.size(); ++i)
      threads.emplace_back([&, i] { outcomes[i] = engine.outcome(images[i]); });
    threads.clear();
    EXPECT_EQ(engine.count(round == 0 ? "translated" : "from the cache"), 8);
    std::ranges::sort(outcomes);
    EXPECT_EQ(std::ranges::adjacent_find(outcomes), outcomes.end());
  }
}

}  // namespace
}  // namespace softgpu::compute
