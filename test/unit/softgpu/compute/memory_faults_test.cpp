#include <algorithm>

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "memory_kernels.hpp"

namespace softgpu::compute {
namespace {

using MemoryFaults = MemoryKernels;

/// A page of a mapping of its own.
class Page {
public:
  explicit Page(int protection) : memory_(mmap(nullptr, size, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Page() { munmap(memory_, size); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  [[nodiscard]] unsigned* words() const { return static_cast<unsigned*>(memory_); }

private:
  static constexpr std::size_t size = 4096;
  void* memory_;
};

TEST_F(MemoryFaults, a_store_to_address_0_is_a_memory_fault) {
  const auto failure = program().run("store_at", {{64, 1, 1}, {64, 1, 1}}, static_cast<unsigned*>(nullptr));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::memory_fault);
  // Without AVX-512 a vector of 16 lanes is two registers, and the upper half may be stored first.
  const bool halves = engine_options_for(Architecture::gfx90a()).cpu == HostCpu::avx2 || !host_cpu_named("avx512");
  EXPECT_TRUE(failure->address == 0 || (halves && failure->address == 32)) << failure->address;
}

TEST_F(MemoryFaults, a_wild_address_of_one_lane_is_named) {
  std::vector<unsigned> out(64);
  std::vector<unsigned long long> offsets(64);
  for (unsigned i = 0; i < 64; ++i) offsets[i] = 4 * i;
  ASSERT_EQ(text(program().run("indexed_store", {{64, 1, 1}, {64, 1, 1}}, out.data(), offsets.data())), "");
  EXPECT_EQ(out[63], 63U);
  offsets[37] = 0x20 - std::bit_cast<std::uint64_t>(out.data());
  const auto failure = program().run("indexed_store", {{64, 1, 1}, {64, 1, 1}}, out.data(), offsets.data());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::memory_fault);
  EXPECT_EQ(failure->address, 0x20U);
}

TEST_F(MemoryFaults, the_work_group_that_faulted_is_known) {
  std::vector<unsigned> out(1024);
  std::vector<unsigned long long> offsets(1024);
  for (unsigned i = 0; i < 1024; ++i) offsets[i] = 4 * i;
  offsets[512 + 5 * 64 + 7] = 0x20 - std::bit_cast<std::uint64_t>(out.data());
  const auto failure = program().run("indexed_store", {{1024, 1, 1}, {512, 1, 1}}, out.data(), offsets.data());
  ASSERT_TRUE(failure);
  EXPECT_THAT(failure->text, testing::HasSubstr("accessed by wavefront 5 of work-group (1, 0, 0)"));
}

TEST_F(MemoryFaults, the_instruction_that_faulted_is_known) {
  const Shape wave{{64, 1, 1}, {64, 1, 1}};
  const auto place = [&](const std::string& kernel, const std::optional<Failure>& failure) {
    return failure ? program().place_of(kernel, *failure) : "nothing failed";
  };
  std::vector<unsigned> out(64);
  std::vector<unsigned long long> offsets(64);
  EXPECT_THAT(place("store_at", program().run("store_at", wave, static_cast<unsigned*>(nullptr))),
              testing::ContainsRegex("^offset 0x[0-9a-f]+, global_store_dword "));
  EXPECT_THAT(place("load_from", program().run("load_from", wave, static_cast<unsigned*>(nullptr), out.data())),
              testing::ContainsRegex("^offset 0x[0-9a-f]+, global_load_dword "));
  offsets[37] = 0x20 - std::bit_cast<std::uint64_t>(out.data());
  EXPECT_THAT(place("indexed_store", program().run("indexed_store", wave, out.data(), offsets.data())),
              testing::ContainsRegex("^offset 0x[0-9a-f]+, (global|flat)_store_dword "));
}

TEST_F(MemoryFaults, the_instruction_that_accessed_foreign_memory_is_known) {
  AccessibleMemory nothing({.base = 0x4000'0000'0000, .mask = ~std::uint64_t{0xffff'ffff}});
  std::vector<unsigned> out(64);
  program().restrict_to(&nothing);
  const auto failure = program().run("store_at", {{64, 1, 1}, {64, 1, 1}}, out.data());
  program().restrict_to(nullptr);
  ASSERT_TRUE(failure);
  EXPECT_THAT(program().place_of("store_at", *failure),
              testing::ContainsRegex("^offset 0x[0-9a-f]+, global_store_dword "));
}

TEST_F(MemoryFaults, an_address_that_no_processor_can_map_is_a_memory_fault) {
  const auto address = std::bit_cast<unsigned*>(std::uint64_t{0xdeadbeefdeadbee0});
  const auto failure = program().run("store_at", {{64, 1, 1}, {64, 1, 1}}, address);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::memory_fault);
  EXPECT_EQ(failure->text, "an address that is not canonical, which no memory has; accessed by wavefront 0 of "
                           "work-group (0, 0, 0)");
  EXPECT_TRUE(failure->is_imprecise);
}

TEST_F(MemoryFaults, a_write_to_read_only_memory_is_told_from_one_to_memory_that_is_not_there) {
  const Page page(PROT_READ);
  std::vector<unsigned> out(64, 1);
  for (int touched = 0; touched < 2; ++touched) {  // a page is made when it is first read
    const auto failure = program().run("store_at", {{64, 1, 1}, {64, 1, 1}}, page.words());
    ASSERT_TRUE(failure);
    EXPECT_EQ(failure->kind, Failure::Kind::memory_fault);
    EXPECT_TRUE(failure->is_read_only);
    EXPECT_NE(failure->text.find(" may not be written: its memory is read-only; accessed by wavefront 0 of "),
              std::string::npos)
        << failure->text;
    ASSERT_EQ(text(program().run("load_from", {{64, 1, 1}, {64, 1, 1}}, page.words(), out.data())), "");
  }
  EXPECT_EQ(std::count(out.begin(), out.end(), 0U), 64);
}

TEST_F(MemoryFaults, a_guard_page_is_not_told_as_read_only) {
  const Page page(PROT_NONE);
  std::vector<unsigned> out(64);
  for (const auto& failure : {program().run("store_at", {{64, 1, 1}, {64, 1, 1}}, page.words()),
                              program().run("load_from", {{64, 1, 1}, {64, 1, 1}}, page.words(), out.data())}) {
    ASSERT_TRUE(failure);
    EXPECT_FALSE(failure->is_read_only);
    EXPECT_NE(failure->text.find(" is not mapped"), std::string::npos) << failure->text;
  }
}

TEST_F(MemoryFaults, a_stack_overflow_is_told_with_the_size_of_the_stack) {
  std::vector<unsigned> in(64);
  std::vector<unsigned> out(128);
  const Shape shape{{128, 1, 1}, {128, 1, 1}};
  ASSERT_EQ(text(program().run("recurse_deeply", shape, in.data(), out.data(), 20U)), "");
  const auto failure = program().run("recurse_deeply", shape, in.data(), out.data(), 1000U);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::private_memory);
  EXPECT_NE(failure->text.find("a work-item overran its private memory (its stack), which has 16"), std::string::npos)
      << failure->text;
  EXPECT_NE(failure->text.find("by work-item 0 of work-group (0, 0, 0)"), std::string::npos) << failure->text;
}

TEST_F(MemoryFaults, an_index_beyond_private_memory_is_told_with_the_work_item) {
  std::vector<unsigned> in(128);
  std::vector<unsigned> out(128);
  const Shape shape{{128, 1, 1}, {128, 1, 1}};
  ASSERT_EQ(text(program().run("index_privately", shape, in.data(), out.data())), "");
  in[100] = 1000;
  const auto failure = program().run("index_privately", shape, in.data(), out.data());
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->kind, Failure::Kind::private_memory);
  EXPECT_NE(failure->text.find("by work-item 100 of work-group (0, 0, 0)"), std::string::npos) << failure->text;
}

}  // namespace
}  // namespace softgpu::compute
