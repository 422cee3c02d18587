#include "softgpu/compute/execution/engine.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>

#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "descriptor_and_code.hpp"
#include "softgpu/compute/host_code/jit.hpp"
#include "softgpu/compute/run_time/global_wave_sync.hpp"
#include "test_launch.hpp"

namespace softgpu::compute {
namespace {

// Machine words, as the assembler encodes them.
constexpr std::uint32_t s_branch_over_one_word = 0xbf820001;
constexpr std::uint32_t s_branch_back_one_word = 0xbf82fffe;
constexpr std::uint32_t s_sleep_1 = 0xbf8e0001;
constexpr std::uint32_t v_mov_v0_5 = 0x7e000285;
constexpr std::uint32_t v_mov_v0_7 = 0x7e000287;
constexpr std::uint32_t s_mov_exec_0 = 0xbefe0180;
constexpr std::uint32_t s_mov_exec_minus_2 = 0xbefe01c2;
constexpr std::array<std::uint32_t, 2> ds_gws_init_v0_offset_3 = {0xd9330003, 0x00000000};
constexpr std::array<std::uint32_t, 2> ds_gws_sema_v_offset_3 = {0xd9350003, 0x00000000};
constexpr std::array<std::uint32_t, 2> ds_gws_sema_br_v0_offset_3 = {0xd9370003, 0x00000000};
constexpr std::array<std::uint32_t, 2> ds_gws_sema_p_offset_3 = {0xd9390003, 0x00000000};
constexpr std::array<std::uint32_t, 2> ds_gws_sema_release_all_offset_3 = {0xd9310003, 0x00000000};
constexpr std::array<std::uint32_t, 2> ds_gws_barrier_v0 = {0xd93b0000, 0x00000000};
constexpr std::uint32_t s_ttracedata = 0xbf960000;
constexpr std::uint32_t v_clrexcp = 0x7e006a00;
constexpr std::uint32_t s_mov_m0_literal = 0xbefc00ff;
constexpr std::uint32_t s_sendmsg_interrupt = 0xbf900001;
constexpr std::uint32_t no_instruction = 0xffffffff;

std::shared_ptr<const Kernel> kernel_in(Engine& engine, const DescriptorAndCode& image) {
  auto result = engine.kernel(image.address());
  const auto* failure = std::get_if<Failure>(&result);
  EXPECT_EQ(failure, nullptr) << failure->text;
  return failure == nullptr ? std::get<std::shared_ptr<const Kernel>>(result) : nullptr;
}

Failure failure_in(Engine& engine, std::uint64_t address) {
  auto result = engine.kernel(address);
  if (const auto* failure = std::get_if<Failure>(&result)) return *failure;
  ADD_FAILURE() << "the kernel was not refused";
  return {};
}

std::optional<Failure> run(std::shared_ptr<const Kernel> kernel, const DescriptorAndCode& image) {
  auto packet = packet_of({64, 1, 1}, {64, 1, 1});
  packet.kernel_object = image.address();
  WorkGroupRunner runner(0);
  return runner.run(*launch_of(std::move(kernel), packet), 0);
}

TEST(Engine, translates_a_kernel_once) {
  Engine engine;
  const DescriptorAndCode image({s_endpgm});
  EXPECT_EQ(kernel_in(engine, image), kernel_in(engine, image));
}

TEST(Engine, translates_a_kernel_once_more_where_wavefronts_have_their_ids_in_rows) {
  Engine engine;
  const DescriptorAndCode image({s_endpgm});
  const auto kernel_for = [&](std::array<std::uint16_t, 3> group) {
    auto packet = packet_of({64, 64, 1}, group);
    packet.kernel_object = image.address();
    return std::get<std::shared_ptr<const Kernel>>(engine.kernel(packet));
  };
  const auto rows = kernel_for({64, 1, 1});
  const auto tiles = kernel_for({16, 16, 1});
  EXPECT_TRUE(rows->start().has_ids_in_rows);
  EXPECT_FALSE(tiles->start().has_ids_in_rows);
  EXPECT_EQ(kernel_for({64, 4, 1}), rows);
  EXPECT_EQ(kernel_for({8, 8, 1}), tiles);
  EXPECT_EQ(kernel_in(engine, image), tiles) << "it is for any packet";

  auto packet = packet_of({64, 64, 1}, {64, 1, 1});
  packet.kernel_object = image.address();
  EXPECT_TRUE(engine.is_known(packet, *rows));
  EXPECT_FALSE(engine.is_known(packet, *tiles));
  EXPECT_EQ(engine.known_kernel(packet), rows);
}

/// An exception during a translation fails the kernel. The kernel is translated when no exception comes any more.
template <class Exception>
void expect_failure_until_there_is_memory(const Exception& thrown, const std::string& text) {
  bool enough = false;
  Engine engine({.log = [&](std::string_view) {
    if (!enough) throw thrown;
  }});
  const DescriptorAndCode image({s_endpgm});
  const Failure failure = failure_in(engine, image.address());
  EXPECT_EQ(failure.kind, Failure::Kind::host_memory);
  EXPECT_EQ(failure.text, text);
  enough = true;
  EXPECT_NE(kernel_in(engine, image), nullptr);
}

TEST(Engine, fails_a_kernel_that_the_hosts_memory_does_not_suffice_for_and_translates_it_once_it_does) {
  expect_failure_until_there_is_memory(std::bad_alloc(), "the host has no memory left to translate the kernel");
  const std::string text = "LLVM's JIT: Cannot allocate memory";
  expect_failure_until_there_is_memory(JitError(text), text);
}

TEST(Engine, translates_the_same_code_at_two_addresses_once) {
  Engine engine;
  const DescriptorAndCode one({s_nop, s_endpgm});
  const DescriptorAndCode other({s_nop, s_endpgm});
  EXPECT_EQ(kernel_in(engine, one), kernel_in(engine, other));
}

TEST(Engine, sees_that_an_address_holds_other_code_now) {
  Engine engine;
  DescriptorAndCode image({s_endpgm});
  EXPECT_FALSE(run(kernel_in(engine, image), image));
  image.set({s_trap_2, s_endpgm});
  const auto failure = run(kernel_in(engine, image), image);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::trap);
}

TEST(Engine, sees_that_an_address_holds_another_descriptor_now) {
  Engine engine;
  DescriptorAndCode image({s_endpgm});
  EXPECT_EQ(kernel_in(engine, image)->descriptor().private_segment_bytes, 0U);
  image.set_private_segment(128);
  EXPECT_EQ(kernel_in(engine, image)->descriptor().private_segment_bytes, 128U);
}

TEST(Engine, a_kernel_in_use_outlives_being_forgotten_and_the_engine) {
  const DescriptorAndCode image({s_trap_2, s_endpgm});
  std::shared_ptr<const Kernel> kernel;
  {
    Engine engine;
    kernel = kernel_in(engine, image);
    engine.forget(image.address(), 1);
    EXPECT_NE(kernel, kernel_in(engine, image));
  }
  EXPECT_TRUE(run(kernel, image));
}

TEST(Engine, forgets_only_what_it_is_told_to) {
  Engine engine;
  const DescriptorAndCode image({s_endpgm});
  const auto kernel = kernel_in(engine, image);
  engine.forget(image.address() + 1024, 4096);
  EXPECT_EQ(kernel, kernel_in(engine, image));
}

TEST(Engine, two_threads_get_one_translation) {
  Engine engine;
  const DescriptorAndCode image({s_barrier, s_endpgm});
  std::array<std::shared_ptr<const Kernel>, 4> kernels;
  std::vector<std::jthread> threads;
  for (auto& kernel : kernels) threads.emplace_back([&] { kernel = kernel_in(engine, image); });
  threads.clear();
  for (const auto& kernel : kernels) EXPECT_EQ(kernel, kernels[0]);
}

TEST(Engine, follows_branches_and_leaves_out_what_they_jump_over) {
  Engine engine;
  const DescriptorAndCode image({s_branch_over_one_word, no_instruction, s_endpgm});
  EXPECT_FALSE(run(kernel_in(engine, image), image));
}

TEST(Engine, knows_what_kernels_may_wait_for) {
  Engine engine;
  const auto waits_for = [&](std::uint32_t instruction) {
    return kernel_in(engine, DescriptorAndCode({instruction, s_nop, s_endpgm}))->waits_for();
  };
  EXPECT_EQ(waits_for(s_nop), WaitsFor::nothing);
  EXPECT_EQ(waits_for(s_barrier), WaitsFor::work_group);
  EXPECT_EQ(waits_for(s_sleep_1), WaitsFor::anyone);
  EXPECT_EQ(kernel_in(engine, DescriptorAndCode({ds_gws_barrier_v0[0], ds_gws_barrier_v0[1], s_endpgm}))->waits_for(),
            WaitsFor::whole_grid);
}

TEST(Engine, refuses_an_unsupported_instruction_by_its_name_and_offset) {
  Engine engine;
  const DescriptorAndCode image({s_nop, s_sendmsg_save_wave, s_endpgm});
  const Failure failure = failure_in(engine, image.address());
  EXPECT_EQ(failure.kind, Failure::Kind::illegal_instruction);
  EXPECT_EQ(failure.instruction, 4U);
  EXPECT_NE(failure.text.find("s_sendmsg"), std::string::npos) << failure.text;
  EXPECT_NE(failure.text.find("0x4"), std::string::npos) << failure.text;
}

TEST(Engine, a_message_interrupts_the_host_with_the_lower_24_bits_of_m0) {
  struct Handler final : InterruptHandler {
    std::vector<std::uint32_t> received;
    void kernel_interrupt(std::uint32_t data) override { received.push_back(data); }
  } handler;
  Engine engine;
  const DescriptorAndCode image({s_mov_m0_literal, 0x12345678, s_sendmsg_interrupt, s_sendmsg_interrupt, s_endpgm});
  const auto kernel = kernel_in(engine, image);
  ASSERT_NE(kernel, nullptr);
  QueueView queue;
  queue.interrupts = &handler;
  WorkGroupRunner runner(0);
  EXPECT_EQ(runner.run(*launch_of(kernel, packet_of({64, 1, 1}, {64, 1, 1}), queue), 0), std::nullopt);
  EXPECT_EQ(handler.received, (std::vector<std::uint32_t>{0x345678, 0x345678}));
}

/// How often the semaphore can be lowered without a wait after one work-group has run.
unsigned count_after(std::vector<std::uint32_t> code, std::uint32_t resource) {
  code.push_back(s_endpgm);
  Engine engine;
  const DescriptorAndCode image(code);
  GlobalWaveSync sync;
  QueueView queue;
  queue.global_sync = &sync;
  WorkGroupRunner runner(0);
  EXPECT_EQ(runner.run(*launch_of(kernel_in(engine, image), packet_of({64, 1, 1}, {64, 1, 1}), queue), 0),
            std::nullopt);
  unsigned count = 0;
  while (sync.carry_out(GlobalSync::lower, resource, 0).kind == GlobalWaveSync::Wait::Kind::done) ++count;
  return count;
}

TEST(Engine, global_sync_takes_the_first_active_lanes_value_and_the_resource_of_m0_plus_the_offset) {
  const std::vector<std::uint32_t> prepare = {s_mov_m0_literal, 2 << 16, v_mov_v0_5, s_mov_exec_minus_2, v_mov_v0_7};
  std::vector<std::uint32_t> code = prepare;
  code.insert(code.end(), ds_gws_init_v0_offset_3.begin(), ds_gws_init_v0_offset_3.end());
  EXPECT_EQ(count_after(code, 2 + 3), 7U);
  EXPECT_EQ(count_after(code, 3), 0U);
  code = prepare;
  code.push_back(s_mov_exec_0);
  code.insert(code.end(), ds_gws_init_v0_offset_3.begin(), ds_gws_init_v0_offset_3.end());
  EXPECT_EQ(count_after(code, 2 + 3), 0U);
}

TEST(Engine, semaphores_of_global_sync_count) {
  const auto count_with = [](const std::array<std::uint32_t, 2>& instruction) {
    std::vector<std::uint32_t> code = {s_mov_m0_literal, 0, v_mov_v0_5};
    for (const auto& next : {ds_gws_init_v0_offset_3, instruction}) code.insert(code.end(), next.begin(), next.end());
    return count_after(code, 3);
  };
  EXPECT_EQ(count_with({s_nop, s_nop}), 5U);
  EXPECT_EQ(count_with(ds_gws_sema_v_offset_3), 6U);
  EXPECT_EQ(count_with(ds_gws_sema_br_v0_offset_3), 10U);
  EXPECT_EQ(count_with(ds_gws_sema_p_offset_3), 4U);
  EXPECT_EQ(count_with(ds_gws_sema_release_all_offset_3), 5U) << "nobody waits";
}

/// Each wavefront of the first work-group lowers a semaphore that is 0.
TEST(Engine, semaphores_of_global_sync_hold_wavefronts_until_they_are_raised_or_all_are_released) {
  constexpr std::uint32_t v_readfirstlane_s4_v0 = 0x7e080500;
  constexpr std::uint32_t s_cmp_eq_s4_0 = 0xbf068004;
  constexpr std::uint32_t s_branch_if_scc_over_three_words = 0xbf850003;
  for (const auto& release : {ds_gws_sema_v_offset_3, ds_gws_sema_release_all_offset_3}) {
    // The first wavefront waits, the second one lets it go on.
    Engine engine;
    const DescriptorAndCode image({s_mov_m0_literal, 0, v_readfirstlane_s4_v0, s_cmp_eq_s4_0,
                                   s_branch_if_scc_over_three_words, release[0], release[1], s_endpgm,
                                   ds_gws_sema_p_offset_3[0], ds_gws_sema_p_offset_3[1], s_endpgm});
    const auto kernel = kernel_in(engine, image);
    ASSERT_NE(kernel, nullptr);
    GlobalWaveSync sync;
    QueueView queue;
    queue.global_sync = &sync;
    WorkGroupRunner runner(0);
    EXPECT_EQ(runner.run(*launch_of(kernel, packet_of({128, 1, 1}, {128, 1, 1}), queue), 0), std::nullopt);
    EXPECT_EQ(sync.carry_out(GlobalSync::lower, 3, 0).kind, GlobalWaveSync::Wait::Kind::semaphore) << "it is 0 again";
  }
}

TEST(Engine, what_traces_and_clears_exception_flags_changes_nothing) {
  std::vector<std::uint32_t> code = {s_mov_m0_literal, 0, v_mov_v0_5, s_ttracedata, v_clrexcp};
  code.insert(code.end(), ds_gws_init_v0_offset_3.begin(), ds_gws_init_v0_offset_3.end());
  EXPECT_EQ(count_after(code, 3), 5U);
}

/// The first wavefront halts in front of a trap; the second one gets to another trap, which ends both.
TEST(Engine, a_halted_wavefront_waits_until_its_work_group_ends) {
  constexpr std::uint32_t v_readfirstlane_s4_v0 = 0x7e080500;
  constexpr std::uint32_t s_cmp_eq_s4_0 = 0xbf068004;
  constexpr std::uint32_t s_branch_if_scc_over_one_word = 0xbf850001;
  constexpr std::uint32_t s_sethalt_1 = 0xbf8d0001;
  Engine engine;
  const DescriptorAndCode image(
      {v_readfirstlane_s4_v0, s_cmp_eq_s4_0, s_branch_if_scc_over_one_word, s_trap_2, s_sethalt_1, s_trap_2, s_endpgm});
  const auto kernel = kernel_in(engine, image);
  ASSERT_NE(kernel, nullptr);
  WorkGroupRunner runner(0);
  const auto failure = runner.run(*launch_of(kernel, packet_of({128, 1, 1}, {128, 1, 1})), 0);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::trap);
  EXPECT_EQ(failure->instruction, 12U);
}

TEST(Engine, refuses_bytes_that_are_no_instruction) {
  Engine engine;
  const Failure failure = failure_in(engine, DescriptorAndCode({s_nop, s_nop, no_instruction}).address());
  EXPECT_EQ(failure.kind, Failure::Kind::illegal_instruction);
  EXPECT_EQ(failure.instruction, 8U);
}

TEST(Engine, follows_branches_to_code_before_the_entry) {
  Engine engine;
  DescriptorAndCode image({s_branch_back_one_word, no_instruction});
  image.set_word_before_entry(s_endpgm);
  EXPECT_EQ(run(kernel_in(engine, image), image), std::nullopt);
  image.set_word_before_entry(no_instruction);
  EXPECT_EQ(failure_in(engine, image.address()).kind, Failure::Kind::illegal_instruction);
}

TEST(Engine, refuses_an_address_that_is_not_mapped) {
  Engine engine;
  EXPECT_EQ(failure_in(engine, 0x1000).kind, Failure::Kind::invalid_code_object);
}

TEST(Engine, refuses_memory_that_holds_no_kernel_descriptor) {
  Engine engine;
  alignas(64) const std::array<std::byte, 64> zeros{};
  EXPECT_EQ(failure_in(engine, std::bit_cast<std::uint64_t>(zeros.data())).kind, Failure::Kind::invalid_code_object);
}

TEST(Engine, reads_code_up_to_the_last_mapped_byte_and_no_further) {
  constexpr std::size_t page = 4096;
  auto* memory =
      static_cast<std::byte*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(mprotect(memory + page, page, PROT_NONE), 0);
  std::byte* kernel_object = memory + page - KernelDescriptor::size - sizeof s_endpgm;
  const std::int64_t entry_offset = KernelDescriptor::size;
  std::memcpy(kernel_object + 16, &entry_offset, sizeof entry_offset);
  std::memcpy(kernel_object + entry_offset, &s_endpgm, sizeof s_endpgm);
  Engine engine;
  EXPECT_TRUE(std::holds_alternative<std::shared_ptr<const Kernel>>(
      engine.kernel(std::bit_cast<std::uint64_t>(kernel_object))));
  munmap(memory, 2 * page);
}

}  // namespace
}  // namespace softgpu::compute
