// Kernels access the memory that the GPU was given, and no other memory of the program.
#include "softgpu/compute/run_time/accessible_memory.hpp"

#include <sys/mman.h>

#include <bit>
#include <functional>
#include <string>
#include <vector>

#include "hip_program.hpp"
#include "memory_kernels_code_object.hpp"
#include "memory_kernels_gfx942_code_object.hpp"

namespace softgpu::compute {
namespace {

constexpr AccessibleMemory::Window no_window{.base = ~std::uint64_t{0}, .mask = ~std::uint64_t{0}};

/// Zeroed pages that share no page with anything else.
class Pages {
public:
  Pages() : begin_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() { munmap(begin_, bytes); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] void* data() const { return begin_; }
  [[nodiscard]] std::uint64_t address() const { return std::bit_cast<std::uint64_t>(begin_); }
  [[nodiscard]] bool contains(std::uint64_t at) const { return at >= address() && at - address() < bytes; }

  static constexpr std::size_t bytes = 16384;

private:
  void* begin_;
};

TEST(AccessibleMemory, is_a_window_and_ranges_of_whole_pages) {
  AccessibleMemory memory({.base = 0x4000'0000'0000, .mask = ~std::uint64_t{0xffff'ffff}});
  EXPECT_TRUE(memory.range_of(0x4000'1234'5678).contains(0x4000'1234'5678));
  EXPECT_FALSE(memory.range_of(0x4001'0000'0000).contains(0x4001'0000'0000));
  memory.add(0x10010, 0x1000);
  memory.add(0x10000, 8);
  for (const std::uint64_t inside : {0x10000, 0x10fff, 0x11000, 0x11fff})
    EXPECT_TRUE(memory.range_of(inside).contains(inside));
  for (const std::uint64_t outside : {0xffff, 0x12000}) EXPECT_FALSE(memory.range_of(outside).contains(outside));
  memory.remove(0x10010, 0x1000);
  EXPECT_TRUE(memory.range_of(0x10fff).contains(0x10fff)) << "the other range has this page, too";
  EXPECT_FALSE(memory.range_of(0x11000).contains(0x11000));
}

struct Case {
  const char* kernel;
  unsigned buffers;        ///< pointers, the kernel's first arguments
  bool has_count = false;  ///< a number follows them
};

void PrintTo(const Case& test, std::ostream* out) { *out << test.kernel; }

class MemoryKernelsAccess : public testing::TestWithParam<Case> {
protected:
  static HipProgram& program() {
    static HipProgram loaded(code_objects::memory_kernels(), code_objects::memory_kernels_gfx942());
    return loaded;
  }
  std::optional<Failure> run(AccessibleMemory& memory) const {
    program().restrict_to(&memory);
    const Shape shape{{256, 1, 1}, {256, 1, 1}};
    const auto [kernel, count, has_count] = GetParam();
    std::optional<Failure> failure;
    if (count == 1) failure = program().run(kernel, shape, buffers[0].data());
    if (count == 2 && !has_count) failure = program().run(kernel, shape, buffers[0].data(), buffers[1].data());
    if (count == 2 && has_count) failure = program().run(kernel, shape, buffers[0].data(), buffers[1].data(), 200U);
    if (count == 3 && !has_count)
      failure = program().run(kernel, shape, buffers[0].data(), buffers[1].data(), buffers[2].data());
    if (count == 3 && has_count)
      failure = program().run(kernel, shape, buffers[0].data(), buffers[1].data(), buffers[2].data(), 200U);
    if (count == 4)
      failure = program().run(kernel, shape, buffers[0].data(), buffers[1].data(), buffers[2].data(), buffers[3].data(),
                              200U);
    program().restrict_to(nullptr);
    return failure;
  }

  std::array<Pages, 4> buffers;
};

TEST_P(MemoryKernelsAccess, is_to_what_the_gpu_was_given) {
  const unsigned count = GetParam().buffers;
  AccessibleMemory all(no_window);
  for (unsigned i = 0; i < count; ++i) all.add(buffers[i].address(), Pages::bytes);
  const auto failure = run(all);
  EXPECT_FALSE(failure) << failure->text;
  for (unsigned missing = 0; missing < count; ++missing) {
    AccessibleMemory some(no_window);
    for (unsigned i = 0; i < count; ++i)
      if (i != missing) some.add(buffers[i].address(), Pages::bytes);
    const auto fault = run(some);
    ASSERT_TRUE(fault) << "buffer " << missing;
    EXPECT_EQ(fault->kind, Failure::Kind::memory_fault);
    EXPECT_TRUE(buffers[missing].contains(fault->address))
        << "buffer " << missing << ", " << std::hex << fault->address;
    EXPECT_NE(fault->text.find("memory of the program that the GPU was not given"), std::string::npos) << fault->text;
  }
}

TEST_P(MemoryKernelsAccess, within_the_window_is_left_to_the_page_tables) {
  // All of the address space of programs.
  AccessibleMemory memory({.base = 0, .mask = 0xffff'8000'0000'0000});
  const auto failure = run(memory);
  EXPECT_FALSE(failure) << failure->text;
}

/// The base of an address may be far from the memory that the address is in.
TEST(MemoryKernelsIndex, is_added_to_a_base_that_is_nobodys_memory) {
  HipProgram program(code_objects::memory_kernels(), code_objects::memory_kernels_gfx942());
  const Pages numbers, indices, out;
  const auto words = [](const Pages& pages) { return std::bit_cast<std::uint32_t*>(pages.address()); };
  const Shape shape{{64, 1, 1}, {64, 1, 1}};
  for (const std::int64_t far : {-0x80000000LL, 0x7fffffc0LL, -32LL, 0LL}) {
    for (std::uint32_t i = 0; i < 64; ++i) {
      words(numbers)[i] = 3 * i + 1;
      words(indices)[i] = static_cast<std::uint32_t>(far + (i * 7) % 64);
    }
    const auto base = std::bit_cast<unsigned*>(numbers.address() - static_cast<std::uint64_t>(4 * far));
    AccessibleMemory all(no_window);
    for (const Pages* pages : {&numbers, &indices, &out}) all.add(pages->address(), Pages::bytes);
    program.restrict_to(&all);
    const auto failure = program.run("load_at_indices", shape, base, words(indices), words(out));
    EXPECT_FALSE(failure) << failure->text;
    for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(words(out)[i], 3 * ((i * 7) % 64) + 1) << far << ", " << i;

    all.remove(numbers.address(), Pages::bytes);
    const auto fault = program.run("load_at_indices", shape, base, words(indices), words(out));
    program.restrict_to(nullptr);
    ASSERT_TRUE(fault);
    EXPECT_TRUE(numbers.contains(fault->address)) << std::hex << fault->address;
  }
}

INSTANTIATE_TEST_SUITE_P(, MemoryKernelsAccess,
                         testing::Values(Case{"copy_dwords", 2, true}, Case{"copy_pairs", 2, true},
                                         Case{"copy_triples", 2, true}, Case{"copy_quads", 2, true},
                                         Case{"copy_bytes", 2, true}, Case{"copy_shorts", 2, true},
                                         Case{"permute_dwords", 3, true}, Case{"permute_quads", 3, true},
                                         Case{"permute_bytes", 4, true}, Case{"permute_shorts", 4, true},
                                         Case{"count_at_offsets", 2}, Case{"flat_everywhere", 1},
                                         Case{"integer_atomics", 3}, Case{"float_atomics", 2}),
                         [](const auto& test) { return std::string(test.param.kernel); });

}  // namespace
}  // namespace softgpu::compute
